/*
 * Node's Buffer, which programs take for granted. The npm package's own code:
 * it serves the program alone, and nothing of the realm relies on it.
 */
import { Buffer } from 'buffer/index.js';
import { hide } from './define.js';

export function installBuffer(global) {
  hide(global, 'Buffer', Buffer);
}
