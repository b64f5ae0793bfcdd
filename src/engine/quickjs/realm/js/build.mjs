/*
 * Bundles the realm into one classic script whose value is install(native):
 *   node build.mjs OUT.js [OUT.inputs]
 * and lists the files that went into it. The same inputs give the same bytes. Swaps V8's internals in
 * node-inspect-extracted for the engine's (inspect-hooks.js); a version of it
 * that no longer has those places fails the build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { build } from 'esbuild';
import { packZones } from './intl/pack-zones.mjs';
import { inputsOf } from '../../../../../scripts/notices.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

function swap(text, from, to) {
  const at = text.indexOf(from);
  if (at < 0 || text.indexOf(from, at + 1) >= 0)
    throw new Error(`node-inspect-extracted changed: ${from} not found once`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

function cut(text, from, to, replacement) {
  const a = text.indexOf(from);
  const b = text.indexOf(to, a);
  if (a < 0 || b < 0)
    throw new Error(`node-inspect-extracted changed: ${from}`);
  return text.slice(0, a) + replacement + text.slice(b);
}

/* hooks: the module that answers, by its path. Adapters have one of their own. */
export function hookInspect(text, hooks = join(here, 'inspect-hooks.js')) {
  text = cut(text, '499(t,e,n){', '},302(t,e,n)',
    '499(t){t.exports=capsidHooks.types');
  text = swap(text, 'getPromiseDetails:()=>[g,void 0]',
    'getPromiseDetails:t=>capsidHooks.promiseDetails(t,g,h)');
  text = swap(text, 'getProxyDetails:y.getProxyDetails,Proxy:y.Proxy',
    'getProxyDetails:capsidHooks.proxyDetails,Proxy:y.Proxy');
  text = cut(text, 'getConstructorName(t){', ',getExternalValue',
    'getConstructorName:capsidHooks.constructorName');
  text = cut(text, 'getOwnNonIndexProperties:function', ',getPromiseDetails',
    'getOwnNonIndexProperties:capsidHooks.ownNonIndexProperties');
  text = swap(text, 'isError:t=>l?.(t)||s(i,t)', 'isError:capsidHooks.isError');
  /* As the supported Node releases print: no mark for a proxy, brackets
   * around symbol keys, none around the lengths of buffers; and an error's
   * stack read through stackOf. */
  text = swap(text, 'if(0!==s)for(let e=0;e<s;e++)u=', 'if(0)for(;0;)u=');
  text = swap(text, 'for(let n=0;n<s;n++)e=`${t.stylize("Proxy("',
    'for(;0;)e=`${t.stylize("Proxy("');
  text = swap(text, 's=t.stylize(e,"symbol")}',
    's=`[${t.stylize(e,"symbol")}]`}');
  text = swap(text, 'return!1===i.enumerable&&(s=',
    'return!1===i.enumerable&&"symbol"!=typeof r&&(s=');
  text = swap(text, '${t.stylize(`[${r}]`,"string")}: ${i}',
    '${t.showHidden?`[${r}]`:r}: ${i}');
  text = swap(text, '{ [byteLength]: ${', '{ byteLength: ${');
  /* Theirs provokes an overflow to learn how one looks. */
  text = cut(text, 'isStackOverflowError:function(t)',
    ',kEnhanceStackBeforeInspector',
    'isStackOverflowError:capsidHooks.isStackOverflow');
  text = swap(text, 'seen:[]', 'seen:capsidHooks.safeStack()');
  text = swap(text, 'try{n=e.stack}catch',
    'try{n=capsidHooks.stackOf(e)}catch');
  return `const capsidHooks=require(${JSON.stringify(hooks)});${text}`;
}

const plugin = {
  name: 'capsid-realm',
  setup(b) {
    b.onLoad({ filter: /node-inspect-extracted[\\/]dist[\\/]inspect\.js$/ },
      ({ path }) => ({ contents: hookInspect(readFileSync(path, 'utf8')) }));
    b.onResolve({ filter: /^capsid:zones$/ },
      () => ({
        path: require.resolve('moment-timezone/data/packed/latest.json'),
        namespace: 'capsid-zones',
      }));
    b.onLoad({ filter: /./, namespace: 'capsid-zones' }, ({ path }) => ({
      contents: packZones(JSON.parse(readFileSync(path))),
    }));
  },
};

/* { text, inputs }: the script, and the files that it was made of. */
export async function bundleListed() {
  const result = await build({
    absWorkingDir: here,
    entryPoints: ['main.js'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'realm',
    target: 'es2023',
    platform: 'neutral',
    mainFields: ['main'],
    conditions: ['require'],
    minifyWhitespace: true,
    minifySyntax: true,
    keepNames: false,
    charset: 'utf8',
    legalComments: 'none',
    supported: { 'class-static-blocks': true },
    plugins: [plugin],
    logLevel: 'warning',
  });
  return {
    text: `(function(){${result.outputFiles[0].text}return realm.default})()\n`,
    inputs: inputsOf(result.metafile, here),
  };
}

export const bundle = async () => (await bundleListed()).text;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out, list] = process.argv.slice(2);
  if (!out) {
    process.stderr.write('usage: node build.mjs OUT.js [OUT.inputs]\n');
    process.exit(2);
  }
  const { text, inputs } = await bundleListed();
  writeFileSync(out, text);
  if (list) writeFileSync(list, inputs.join('\n') + '\n');
}
