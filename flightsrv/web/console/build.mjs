// Builds the console: bundles src, and writes each file to assets, compressed with Brotli.
// The server embeds assets. manifest.json has a digest of the sources, so that a Go test notices
// sources that are newer than the built files.
import * as esbuild from 'esbuild'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import path from 'node:path'

process.chdir(import.meta.dirname)

const types = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.arrows': 'application/vnd.apache.arrow.stream',
}

const common = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  write: false,
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
  outdir: 'out',
  publicPath: '/console/',
  entryNames: '[name]-[hash]',
  chunkNames: 'chunk-[hash]',
  assetNames: '[name]-[hash]',
}

const built = new Map() // name → bytes

// collect adds the files of a build, and returns the names of its entry points by source.
function collect(result) {
  for (const f of result.outputFiles) built.set(path.basename(f.path), f.contents)
  const entries = {}
  for (const [out, about] of Object.entries(result.metafile.outputs)) {
    if (about.entryPoint) entries[about.entryPoint] = path.basename(out)
  }
  return entries
}

const tileWorker = 'node_modules/maplibre-gl/dist/maplibre-gl-worker.mjs'
const workers = collect(await esbuild.build({
  ...common,
  entryPoints: { triangulator: 'src/geo/triangulator.ts', tiles: tileWorker },
}))
const main = collect(await esbuild.build({
  ...common,
  splitting: true,
  entryPoints: ['src/main.tsx', 'src/style.css', 'src/geo/vendor.ts'],
  loader: { '.arrows': 'file' },
  define: {
    __TRIANGULATOR__: JSON.stringify('/console/' + workers['src/geo/triangulator.ts']),
    __TILE_WORKER__: JSON.stringify('/console/' + workers[tileWorker]),
    'process.env.NODE_ENV': '"production"',
  },
}))
built.delete(main['src/geo/vendor.ts'])
const icon = readFileSync('src/icon.svg')
const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`
built.set(iconName, icon)
const page = readFileSync('src/index.html', 'utf8')
  .replace('{{script}}', '/console/' + main['src/main.tsx'])
  .replace('{{style}}', '/console/' + main['src/style.css'])
  .replace('{{icon}}', '/console/' + iconName)
built.set('index.html', Buffer.from(page))

rmSync('assets', { recursive: true, force: true })
mkdirSync('assets')
const files = {}
for (const name of [...built.keys()].sort()) {
  const bytes = built.get(name)
  const packed = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  writeFileSync(path.join('assets', name + '.br'), packed)
  files[name] = { type: types[path.extname(name)], bytes: bytes.length, compressed: packed.length }
}
const manifest = { sources: digest(), files }
writeFileSync('assets/manifest.json', JSON.stringify(manifest, null, 1) + '\n')
const sum = Object.values(files).reduce((n, f) => n + f.compressed, 0)
console.log(`${Object.keys(files).length} files, ${sum} bytes compressed`)

// digest returns a digest of all sources: for each file its path, its length and its bytes.
function digest() {
  const hash = createHash('sha256')
  const fixed = ['build.mjs', 'package-lock.json', 'package.json', 'tsconfig.json']
  const sources = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => path.posix.join(e.parentPath.split(path.sep).join('/'), e.name))
  for (const name of [...fixed, ...sources].sort()) {
    const bytes = readFileSync(name)
    hash.update(`${name}\n${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}
