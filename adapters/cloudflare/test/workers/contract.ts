/*
 * The parts of the contract that test/contract.test.mjs looks at, in one
 * bundle.
 */
export { Account, isLonger } from '../../src/contract/account.ts'
export { checkConfig, checkRequest } from '../../src/contract/request.ts'
export { Run } from '../../src/contract/run.ts'
export { countValues, heldBytes } from '../../src/contract/text.ts'
export { readLine } from '../../src/wire.ts'
