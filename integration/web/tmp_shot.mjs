import { chromium } from 'playwright-core'
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] })
const p = await b.newPage({ viewport: { width: 1200, height: 800 } })
p.on('pageerror', e => console.log('ERR', e.message))
await p.route('**/v1/{info,actions}/**', async (route) => {
  const answer = await route.fetch(); const about = await answer.json()
  await route.fulfill({ response: answer, json: 'rows' in about ? { ...about, rows: 3_000_000 } : about })
})
await p.goto('http://127.0.0.1:8098/#/table/world%2Fcountries.geojson/map')
for (const t of [1500, 1500, 3000]) { await p.waitForTimeout(t); console.log(JSON.stringify(await p.evaluate(() => window.__map.getLayersOrder()))) }
await p.evaluate(() => window.__fm.draw()); await p.waitForTimeout(1500)
console.log('after draw', JSON.stringify(await p.evaluate(() => window.__map.getLayersOrder())))
console.log(JSON.stringify(await p.evaluate(() => window.__fm.overlay._props.layers.map(l => [l.id, l.props.beforeId, JSON.stringify(l.props.parameters)]))))
await p.screenshot({ path: '/tmp/s1.png' })
await b.close()
