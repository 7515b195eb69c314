// Scenarios of the console: node console.mjs SCENARIO '{"base": "http://127.0.0.1:…", "chromium": "/usr/bin/chromium", …}'.
// Prints a JSON object of measurements. Fails with the first assertion that does not hold.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { blue, Browser, deviation } from './browser.mjs'
import { hostile } from './hostile.mjs'

const failedRequest = /^console: Failed to load resource/

const table = (name, part = '') => `#/table/${encodeURIComponent(name)}${part && '/' + part}`

const scenarios = {
  async catalog(b) {
    await b.show('')
    await b.page.getByRole('link', { name: 'world/countries.geojson' }).waitFor()
    assert.match(await b.page.textContent('[role=status]'), /^(\d+) of \1 tables$/)
    await b.page.getByRole('searchbox').fill('COUNTRIES')
    await b.page.getByText('1 of').waitFor()
    assert.equal(await b.page.locator('tbody tr').count(), 1)
    await b.page.getByRole('button', { name: 'Read world/countries.geojson' }).click()
    await b.page.getByRole('cell', { name: '177', exact: true }).waitFor()
    assert.match(await b.page.textContent('td.extent'), /^-180, -90, 180, 83\.64513$/)
    await b.page.getByRole('link', { name: 'world/countries.geojson' }).click()
    await b.page.getByRole('heading', { name: 'world/countries.geojson' }).waitFor()
  },

  async error(b) {
    b.expected.push(failedRequest)
    await b.show('')
    await b.page.getByRole('button', { name: 'Read broken.geojson' }).click()
    await b.page.getByText(/byte 213, line 3/).first().waitFor()
    await b.show(table('broken.geojson'))
    const alert = b.page.getByRole('alert')
    await alert.waitFor()
    assert.match(await alert.textContent(), /Byte213.*Line3.*Feature1.*Fieldgeometry/s)
    if ((await b.page.request.get(`${b.base}/v1/info/broken.geojson`)).status() === 422) {
      assert.match(await b.page.locator('.excerpt .bad').textContent(), /"coordinates":\[1,\]/)
    }
    await b.show(table('nothing.geojson'))
    await b.page.getByText('no entry "nothing.geojson"').waitFor()
  },

  async table(b) {
    await b.show(table('world/countries.geojson'))
    const row = b.page.locator('#columns tr', { hasText: 'pop_est' })
    await row.getByText('1379302771').waitFor() // the maximum, by SQL
    assert.deepEqual(await b.page.locator('#columns thead th').allTextContents(),
      ['Name', 'Type', 'Nulls', 'Distinct, about', 'Minimum', 'Maximum'])
    await b.page.locator('#rows tbody tr').first().waitFor()
    assert.match(await b.page.textContent('#rows tbody tr'), /920938OceaniaFijiFJI8374MULTIPOLYGON/)
    await b.page.locator('.extent-map').waitFor()
    assert.ok(deviation(await b.pixels('.extent-map')) > 5, 'the small map is empty')

    await b.page.getByRole('link', { name: 'Use and download' }).click()
    await b.page.getByLabel('Box: xmin, ymin, xmax, ymax').fill('-10, 35, 20, 45')
    await b.page.getByLabel('gdp_md_est').uncheck()
    const snippet = await b.page.getByRole('region', { name: 'GeoPandas' }).textContent()
    assert.match(snippet, /bbox=\[-10, 35, 20, 45\]/)
    assert.ok(!snippet.includes('gdp_md_est') && snippet.includes('pop_est'))
    const href = await b.page.getByRole('link', { name: 'Arrow', exact: true }).getAttribute('href')
    const answer = await b.page.request.get(b.base + href)
    assert.equal(answer.status(), 200)
  },

  // Returns the snippets, which the test runs.
  async snippets(b, { address }) {
    await b.show(table('world/countries.geojson', 'use'))
    await b.page.getByLabel('Box: xmin, ymin, xmax, ymax').fill('-10, 35, 20, 45')
    await b.page.getByLabel('gdp_md_est').uncheck()
    await b.page.getByLabel('Address of Flight').fill(address)
    const texts = {}
    for (const label of ['pyarrow', 'GeoPandas', 'DuckDB', 'Polars', 'SQL', 'curl']) {
      texts[label] = await b.page.getByRole('region', { name: label, exact: true }).locator('pre').textContent()
    }
    return texts
  },

  async map(b) {
    await b.show(table('world/countries.geojson', 'map'))
    await b.page.getByText('177 rows in').waitFor()
    await b.waitForPixels('#map', blue, 0.1, 'polygons')
    await b.page.getByLabel('Colour by').selectOption('continent')
    await b.page.getByRole('region', { name: 'Legend' }).getByText('Africa').waitFor()
    await b.waitForPixels('#map', (r, g, c) => r > 180 && c < 160, 0.02, 'coloured polygons')
    await clickFeature(b, 60)
    await b.page.getByRole('region', { name: 'Attributes of the feature' }).getByText('Africa').waitFor()
    await b.page.getByRole('button', { name: 'Select the visible box' }).click()
    await b.page.getByRole('link', { name: 'Use and download' }).click()
    assert.match(await b.page.getByLabel('Box: xmin').inputValue(), /^-?[\d.]+(, -?[\d.]+){3}$/)

    for (const [name, min] of [['points.csv', 0.01], ['lines.geojson', 0.002], ['mixed.geojson', 0.002], ['projected.parquet', 0.01]]) {
      await b.show(table(name, 'map'))
      await b.page.getByText(/^[\d,]+ rows in/).waitFor()
      await b.waitForPixels('#map', blue, min, name)
    }
  },

  // The description says that a small table is large, so the map shows its tiles.
  async tiles(b) {
    await b.page.route('**/v1/{info,actions}/**', async (route) => {
      const answer = await route.fetch()
      const about = await answer.json()
      await route.fulfill({ response: answer, json: 'rows' in about ? { ...about, rows: 3_000_000 } : about })
    })
    await b.show(table('world/countries.geojson', 'map'))
    await b.page.getByText('Vector tiles of 3,000,000 rows').waitFor()
    await b.page.waitForTimeout(3000) // the countries of the background come later, and are below the tiles
    await b.waitForPixels('#map', blue, 0.15, 'tiles')
    await b.page.getByLabel('Colour by').selectOption('continent')
    await b.page.getByRole('region', { name: 'Legend' }).getByText('Africa').waitFor()
    await b.waitForPixels('#map', (r, g, c) => r > 180 && c < 160, 0.02, 'coloured tiles')
    await clickFeature(b, 60)
    await b.page.getByRole('region', { name: 'Attributes of the feature' }).getByText('Africa').waitFor()
  },

  async dark(b) {
    await b.show(table('world/countries.geojson', 'map'))
    await b.page.getByText('177 rows in').waitFor()
    await b.page.getByLabel('Theme').selectOption('dark')
    await b.waitForPixels('#map', (r, g, c) => r < 30 && c < 50, 0.1, 'a dark sea')
    await b.show('')
    await b.page.reload()
    const background = await b.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    assert.equal(background, 'rgb(18, 23, 29)')
    await b.page.getByLabel('Theme').selectOption('auto')
  },

  async sql(b) {
    await b.show('#/sql')
    const editor = b.page.getByRole('textbox', { name: /SQL query/ })
    await editor.click()
    await b.page.keyboard.press('Control+a')
    await b.page.keyboard.type('SELECT name, pop_est, geometry FROM coun')
    await b.page.getByRole('option', { name: /"world\/countries\.geojson"/ }).waitFor()
    await b.page.waitForTimeout(150) // completion ignores keys that come at once
    await b.page.keyboard.press('Enter')
    await b.page.keyboard.type(' WHERE contin')
    await b.page.getByRole('option', { name: /^continent/ }).waitFor()
    await b.page.waitForTimeout(150)
    await b.page.keyboard.press('Enter')
    await b.page.keyboard.type(" = 'Oceania' ORDER BY name")
    await b.page.keyboard.press('Control+Enter')
    await b.page.getByText(/^7 rows in/).waitFor()
    assert.equal(await b.page.locator('.grid tbody tr td').first().textContent(), 'Australia')
    await b.page.getByRole('radio', { name: 'Map' }).check()
    await b.waitForPixels('#map', blue, 0.02, 'the result on the map')
    await b.page.getByRole('button', { name: 'Plan' }).click()
    await b.page.getByText('VIBEFLIGHT_SCAN').waitFor()
    await b.page.getByText('History').click()
    await b.page.getByRole('button', { name: /Oceania/ }).waitFor()

    await replaceQuery(b, 'SELECT range AS n, range * 2 AS twice FROM range(20000)')
    await b.page.keyboard.press('Control+Enter')
    await b.page.getByText(/^The first 10,000 rows in/).waitFor()
    await b.page.locator('.grid').evaluate((e) => e.scrollTo(0, e.scrollHeight))
    await b.page.getByRole('cell', { name: '9999', exact: true }).waitFor()
    assert.ok(await b.page.locator('.grid tbody tr').count() < 200, 'the table has all rows in the page')

    const [download] = await Promise.all([b.page.waitForEvent('download'), b.page.getByRole('button', { name: 'Download' }).click()])
    assert.equal(download.suggestedFilename(), 'result.arrows')

    b.expected.push(failedRequest)
    await replaceQuery(b, 'SELECT nothing')
    await b.page.keyboard.press('Control+Enter')
    await b.page.getByRole('alert').getByText(/nothing/).waitFor()
  },

  async server(b) {
    await b.show('#/server')
    await b.page.getByText('Calls in progress').waitFor()
    await b.page.getByText('Tables in memory').waitFor()
    // A query that runs until it is ended.
    const slow = b.page.evaluate(async () => {
      const answer = await fetch('/v1/sql', { method: 'POST', body: JSON.stringify({ query: 'SELECT count(*) FROM range(100000000000) WHERE range % 7 = 3' }) })
      return answer.status
    })
    slow.catch(() => {}) // where the page is closed first
    const row = b.page.locator('#queries tr', { hasText: 'http.sql' })
    await row.waitFor()
    b.expected.push(failedRequest)
    await row.getByRole('button').click()
    assert.ok(await slow >= 400)
    await row.waitFor({ state: 'detached' })
  },

  async login(b, { user, password, token }) {
    b.expected.push(failedRequest)
    await b.show('')
    await b.page.getByRole('heading', { name: 'Log in' }).waitFor()
    await b.page.getByLabel('User').fill(user)
    await b.page.getByLabel('Password', { exact: true }).last().fill('wrong')
    await b.page.getByRole('button', { name: 'Log in' }).click()
    await b.page.getByRole('alert').waitFor()
    await b.page.getByLabel('Password', { exact: true }).last().fill(password)
    await b.page.keyboard.press('Enter')
    await b.page.getByRole('link', { name: 'world/countries.geojson' }).waitFor()
    assert.equal(await b.page.textContent('.user'), user)
    await b.page.reload()
    await b.page.getByRole('link', { name: 'world/countries.geojson' }).waitFor()
    assert.equal(await b.page.textContent('.user'), user)
    assert.ok(!JSON.stringify(await b.page.evaluate(() => ({ ...localStorage, ...sessionStorage, cookie: document.cookie }))).includes('session'))
    await b.page.getByRole('button', { name: 'Log out' }).click()
    await b.page.getByRole('heading', { name: 'Log in' }).waitFor()
    await b.page.getByRole('radio', { name: 'Token' }).check()
    await b.page.getByLabel('Token', { exact: true }).last().fill(token)
    await b.page.keyboard.press('Enter')
    await b.page.getByRole('link', { name: 'world/countries.geojson' }).waitFor()
  },

  async accessibility(b) {
    b.expected.push(failedRequest)
    for (const colorScheme of ['light', 'dark']) {
      await b.page.emulateMedia({ colorScheme })
      const screens = {
        catalog: ['', () => b.page.getByRole('link', { name: 'world/countries.geojson' })],
        error: [table('broken.geojson'), () => b.page.getByRole('alert')],
        table: [table('world/countries.geojson'), () => b.page.locator('#columns').getByText('1379302771')],
        map: [table('world/countries.geojson', 'map'), () => b.page.getByText('177 rows in')],
        use: [table('world/countries.geojson', 'use'), () => b.page.getByRole('region', { name: 'QGIS' })],
        sql: ['#/sql', () => b.page.getByRole('textbox', { name: /SQL query/ })],
        server: ['#/server', () => b.page.getByText('Tables in memory')],
        login: ['#/login', () => b.page.getByRole('heading', { name: 'Log in' })],
      }
      for (const [name, [hash, ready]] of Object.entries(screens)) {
        await b.show(hash)
        await ready().first().waitFor()
        if (name === 'map') {
          await b.page.getByLabel('Colour by').selectOption('continent')
          await b.page.getByRole('region', { name: 'Legend' }).waitFor()
        }
        if (name === 'sql') {
          await b.page.getByRole('textbox', { name: /SQL query/ }).click()
          await replaceQuery(b, 'SELECT name FROM "world/countries.geojson" WHERE pop_est > 5 -- text')
          await b.page.keyboard.press('Control+Enter')
          await b.page.locator('.grid').waitFor()
        }
        await b.checkAccessibility(`${name}, ${colorScheme}`)
      }
    }
  },

  // All that a mouse can do on the way to a feature of the map, by keys alone.
  async keyboard(b) {
    await b.show('')
    await b.page.getByRole('link', { name: 'world/countries.geojson' }).waitFor()
    await press(b, 'Tab', () => document.activeElement.textContent === 'Skip to content')
    await press(b, 'Tab', () => document.activeElement.textContent === 'world/countries.geojson')
    await b.page.keyboard.press('Enter')
    await b.page.getByRole('link', { name: 'Map' }).waitFor()
    await press(b, 'Tab', () => document.activeElement.textContent === 'Map')
    await b.page.keyboard.press('Enter')
    await b.page.getByText('177 rows in').waitFor()
    await b.waitForPixels('#map', blue, 0.1, 'polygons')
    await press(b, 'Tab', () => document.activeElement.classList.contains('maplibregl-canvas'))
    const before = await b.pixels('#map')
    await b.page.keyboard.press('ArrowUp')
    await b.page.waitForTimeout(1500)
    const after = await b.pixels('#map')
    assert.notDeepEqual(before.rgb, after.rgb, 'the map has not moved')
  },

  async hostile(b, { strings, columns, names }) {
    b.expected.push(failedRequest)
    const values = hostile(strings)
    await b.show('')
    await b.page.locator('tbody tr').nth(names).waitFor()
    const listed = await b.page.locator('tbody th a').allTextContents()
    for (const name of hostile(names)) assert.ok(listed.some((l) => l.includes(name.replaceAll('/', '_').replaceAll('%', '%25').replaceAll('#', '%23'))), name)
    // Errors quote the file.
    for (let i = 0; i < 25; i++) {
      await b.page.getByRole('button', { name: /^Read broken-hostile/ }).first().click()
      await b.page.locator('tbody p.error').nth(i).waitFor()
    }

    await b.show(table('hostile.geojson'))
    await b.page.getByRole('button', { name: 'Compute statistics' }).click()
    await b.page.locator('#columns thead').getByText('Maximum').waitFor()
    const shown = await b.page.locator('#columns tbody th').allTextContents()
    for (const name of hostile(columns)) assert.ok(shown.includes(name), name)
    await b.show(table('hostile.geojson', 'use'))
    await b.page.getByRole('region', { name: 'pyarrow' }).waitFor()

    await b.show('#/sql')
    await b.page.getByRole('textbox', { name: /SQL query/ }).click()
    await replaceQuery(b, 'SELECT text FROM "hostile.geojson"')
    await b.page.keyboard.press('Control+Enter')
    await b.page.getByText(/^[\d,]+ rows in/).waitFor()
    const found = new Set()
    for (let top = 0; found.size < values.length && top < 40 * values.length; top += 400) {
      await b.page.locator('.grid').evaluate((e, y) => e.scrollTo(0, y), top)
      for (let i = 0, before = found.size; i < 50 && found.size === before; i++) { // until the rows are drawn
        await b.page.waitForTimeout(30)
        for (const t of await b.page.locator('.grid tbody td').allTextContents()) found.add(t)
      }
    }
    assert.deepEqual(values.filter((v) => !found.has(v)), [], 'values that are not shown as text')
    for (const v of values.slice(0, 25)) {
      await replaceQuery(b, `SELECT "${v.replaceAll('"', '""')}"`)
      await b.page.keyboard.press('Control+Enter')
      await b.page.getByRole('alert').waitFor()
    }

    await b.show(table('hostile.geojson', 'map'))
    await b.page.getByText(/rows in/).waitFor()
    await b.page.getByLabel('Colour by').selectOption('text')
    await b.page.getByRole('region', { name: 'Legend' }).getByText('window.__xss').first().waitFor()
    await clickFeature(b, 0)
    assert.equal(await b.page.evaluate(() => window.__xss), undefined)
    assert.equal(await b.page.locator('main img, main iframe, main svg script, main object').count(), 0)
  },

  // The sizes of 5.2: what a first visit transfers, and how long it takes until there is something to see.
  async speed(b, { points }) {
    await b.page.addInitScript(() => { // so that firstPixels can read what was drawn
      const get = HTMLCanvasElement.prototype.getContext
      HTMLCanvasElement.prototype.getContext = function (kind, attributes) {
        return get.call(this, kind, kind === 'webgl2' ? { ...attributes, preserveDrawingBuffer: true } : attributes)
      }
    })
    const start = Date.now()
    await b.show('')
    await b.page.getByRole('link', { name: points }).waitFor()
    const open = Date.now() - start
    const size = await b.transferred()
    await b.page.getByRole('link', { name: points }).click()
    await b.page.locator('#rows tbody tr').first().waitFor()
    await b.page.waitForTimeout(2000) // what is loaded in advance
    const first = await b.page.evaluate(firstPixels)
    await b.page.getByText(/^1,000,000 rows in/).waitFor({ timeout: 120_000 })
    const all = await b.transferred() - await rowsTransferred(b)
    assert.ok(all <= 1_500_000, `${all} bytes`)
    return { open_ms: open, first_visit_bytes: size, all_pages_bytes: all, first_pixels_ms: Math.round(first), status: await b.page.textContent('#map-status') }
  },

  async screenshots(b, { folder }) {
    mkdirSync(folder, { recursive: true })
    const shot = (name) => b.page.screenshot({ path: `${folder}/console-${name}.png` })
    await b.page.setViewportSize({ width: 1100, height: 700 })
    await b.show('')
    await b.page.getByRole('button', { name: 'Read world/countries.geojson' }).click()
    await b.page.getByRole('cell', { name: '177', exact: true }).waitFor()
    await shot('catalog')
    await b.show(table('world/countries.geojson'))
    await b.page.locator('#columns').getByText('1379302771').waitFor()
    await b.page.waitForTimeout(500)
    await shot('table')
    await b.show(table('world/countries.geojson', 'map'))
    await b.page.getByLabel('Colour by').selectOption('pop_est')
    await b.page.getByRole('region', { name: 'Legend' }).waitFor()
    await b.page.waitForTimeout(1500)
    await clickFeature(b, 60)
    await shot('map')
    await b.page.emulateMedia({ colorScheme: 'dark' })
    await b.show('#/sql')
    await b.page.getByRole('textbox', { name: /SQL query/ }).click()
    await replaceQuery(b, 'SELECT continent, count(*) AS countries, sum(pop_est) AS people\nFROM "world/countries.geojson" GROUP BY ALL ORDER BY people DESC')
    await b.page.keyboard.press('Control+Enter')
    await b.page.locator('.grid').waitFor()
    await shot('sql')
  },
}

/** Replaces the text of the editor, in which the cursor is. */
async function replaceQuery(b, text) {
  await b.page.getByRole('textbox', { name: /SQL query/ }).click()
  await b.page.keyboard.press('Control+a')
  await b.page.keyboard.insertText(text)
  await b.page.keyboard.press('Escape')
}

/** Clicks on the map, some pixels right of its middle, until it shows a feature: the click may come before the features. */
async function clickFeature(b, right) {
  const attributes = b.page.getByRole('region', { name: 'Attributes of the feature' })
  for (let i = 0; i < 20 && !await attributes.isVisible(); i++) {
    const box = await b.page.locator('#map').boundingBox()
    await b.page.mouse.click(box.x + box.width / 2 + right, box.y + box.height / 2)
    await attributes.waitFor({ timeout: 1500 }).catch(() => {})
  }
  await attributes.waitFor()
}

/** Presses a key until something holds. */
async function press(b, key, holds) {
  for (let i = 0; i < 60; i++) {
    await b.page.keyboard.press(key)
    if (await b.page.evaluate(holds)) return
  }
  assert.fail(`${key} does not lead to ${holds}`)
}

async function rowsTransferred(b) {
  let sum = 0
  for (const r of b.requests.filter((r) => r.url().includes('/v1/'))) sum += (await r.sizes().catch(() => ({ responseBodySize: 0 }))).responseBodySize
  return sum
}

/** Clicks on Map, and returns the milliseconds until the middle of the map has blue pixels. Runs in the page. */
async function firstPixels() {
  const start = performance.now()
  const width = 400
  const pixels = new Uint8Array(4 * width)
  document.querySelector('.tabs a[href$="/map"]').click()
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const gl = document.querySelector('.maplibregl-canvas')?.getContext('webgl2')
    if (gl) {
      const bound = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING)
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null)
      gl.readPixels((gl.drawingBufferWidth - width) >> 1, gl.drawingBufferHeight >> 1, width, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, bound)
      let n = 0
      for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 2] > 140 && pixels[i + 2] > pixels[i] + 60) n++
      if (n > 10) return performance.now() - start
    }
    if (performance.now() - start > 60_000) throw new Error('no blue pixel')
  }
}

const [, , name, text] = process.argv
const options = JSON.parse(text)
const b = new Browser(options.base, options.chromium)
try {
  await b.open({ colorScheme: 'light' })
  const measured = await scenarios[name](b, options)
  await b.checkProblems()
  console.log(JSON.stringify(measured ?? {}))
} catch (e) {
  console.error(e.stack, b.problems)
  if (options.failed) await b.page?.screenshot({ path: options.failed }).catch(() => {})
  process.exitCode = 1
} finally {
  await b.close()
}
