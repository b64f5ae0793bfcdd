/*
 * URL and URLSearchParams come from core-js, which installs them as globals
 * while it loads; here they get Node's look in the console and core-js's own
 * traces are removed.
 */
import 'core-js/modules/web.url.js';
import 'core-js/modules/web.url.can-parse.js';
import 'core-js/modules/web.url.parse.js';
import 'core-js/modules/web.url.to-json.js';
import 'core-js/modules/web.url-search-params.js';
import 'core-js/modules/web.url-search-params.delete.js';
import 'core-js/modules/web.url-search-params.has.js';
import 'core-js/modules/web.url-search-params.size.js';
import { primordials } from './primordials.js';
import { inspectAs } from './inspect-as.js';

const MEMBERS = ['href', 'origin', 'protocol', 'username', 'password', 'host',
  'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash'];

function inspectParams(proto) {
  const each = primordials.uncurry(proto.forEach);
  const method = {
    [primordials.customInspect](depth, options, inspect) {
      const out = [];
      each(this, (value, name) => {
        out[out.length] =
          `${inspect(name, options)} => ${inspect(value, options)}`;
      });
      return out.length === 0 ? 'URLSearchParams {}' :
        `URLSearchParams { ${primordials.join(out, ', ')} }`;
    },
  }[primordials.customInspect];
  Object.defineProperty(proto, primordials.customInspect, { value: method,
    writable: true, enumerable: false, configurable: true });
}

export function installUrl(global) {
  delete global['__core-js_shared__'];
  for (const name of ['URL', 'URLSearchParams'])
    Object.defineProperty(global, name, { enumerable: false });
  inspectAs(global.URL.prototype, (url) => {
    const out = {};
    for (let i = 0; i < MEMBERS.length; i++)
      out[MEMBERS[i]] = url[MEMBERS[i]];
    return out;
  });
  inspectParams(global.URLSearchParams.prototype);
}
