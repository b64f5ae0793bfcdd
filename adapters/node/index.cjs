'use strict'
module.exports = { createRuntime: require('./lib/runtime.cjs').createRuntime }
