/*
 * The JavaScript half of the realm. Evaluating the bundle loads everything;
 * the function it yields is called once with what C offers and puts the
 * globals in place. Runs at build time only: programs start from its snapshot.
 */
import { removeStandIns } from './stand-ins.js';
import './primordials.js';
import { adoptNative } from './native.js';
import './url.js';
import { warm } from './inspect.js';
import { hide } from './define.js';
import { installErrors } from './errors.js';
import { installUrl } from './url.js';
import { installEvents } from './events.js';
import { installAbort } from './abort.js';
import { installEncoding } from './encoding.js';
import { installBuffer } from './buffer.js';
import { installTimers } from './timers.js';
import { installCrypto } from './crypto.js';
import { installPerformance } from './performance.js';
import { installStructuredClone } from './structured-clone.js';
import { installDateText } from './date-text.js';
import { installIntl } from './intl/intl.js';
import { makeConsole } from './console.js';
import { makeProcess } from './process.js';

/* No claim to be a Node: there is no versions.node. */
const VERSIONS = {
  version: 'v0.0.0',
  versions: { quickjs: '0.18.0' },
};

export default function install(native) {
  const global = globalThis;
  adoptNative(native);
  removeStandIns();
  installErrors();
  installUrl(global);
  installEvents(global);
  installAbort(global);
  installEncoding(global);
  installBuffer(global);
  installTimers(global);
  installCrypto(global);
  installPerformance(global);
  installStructuredClone(global);
  installDateText();
  installIntl(global);
  hide(global, 'console', makeConsole());
  hide(global, 'process', makeProcess(VERSIONS));
  warm();
}
