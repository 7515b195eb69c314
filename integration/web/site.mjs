// The project's page as files in a browser: node site.mjs '{"site": "/…/build/site", "chromium": "/usr/bin/chromium"}'.
// Search works without a server, and no page requests anything from elsewhere.
import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'
import { Browser } from './browser.mjs'

const { site, chromium, pictures } = JSON.parse(process.argv[2])
const b = new Browser(pathToFileURL(site).href, chromium)
await b.open({ colorScheme: 'dark' })
try {
  await b.page.goto(`${b.base}/index.html`)
  const background = () => b.page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(Number))
  assert.ok(Math.max(...await background()) < 60, `dark: ${await background()}`)
  await b.page.emulateMedia({ colorScheme: 'light' })
  await b.page.waitForFunction(() => getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).every((part) => part > 200))

  await b.page.getByRole('button', { name: 'Search' }).click()
  await b.page.keyboard.type('malformed rows')
  const found = b.page.getByRole('option', { name: /Malformed rows and values/ })
  await found.waitFor()
  if (pictures) await b.page.screenshot({ path: `${pictures}/search.png` })
  await found.click()
  await b.page.getByRole('heading', { name: /Malformed rows and values/ }).waitFor()
  assert.match(b.page.url(), /\/reference\/tickets\.html/)

  for (const [page, heading] of [['performance', 'Performance'], ['adr/index', 'Decisions'], ['changes/index', 'Changes'], ['differences', '']]) {
    await b.page.goto(`${b.base}/${page}.html`)
    await b.page.getByRole('heading', { level: 1, name: heading }).first().waitFor()
    const broken = await b.page.evaluate(() => [...document.images].filter((i) => !i.complete || !i.naturalWidth).map((i) => i.src.slice(0, 200)))
    assert.deepEqual(broken, [], `pictures of ${page}`)
    if (pictures) await b.page.screenshot({ path: `${pictures}/${page.replace('/', '-')}.png`, fullPage: false })
  }
  await b.checkProblems()
} finally {
  await b.close()
}
