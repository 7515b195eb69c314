// Chromium for the tests of the console: it notes what no page of ours may do.
import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium } from 'playwright-core'
import { decode } from './png.mjs'

const flags = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-sandbox']

/** A browser with one page at a server. */
export class Browser {
  constructor(base, chromiumPath) {
    this.base = base
    this.path = chromiumPath
    this.problems = []
    this.expected = [] // patterns of messages in the console that a scenario provokes
  }

  async open(options = {}) {
    this.browser = await chromium.launch({ executablePath: this.path, args: flags })
    await this.newPage(options)
  }

  /** Opens another page with an empty cache. */
  async newPage(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
    this.page = await context.newPage()
    this.requests = []
    this.page.on('request', (r) => {
      const url = r.url()
      this.requests.push(r)
      if (!url.startsWith(this.base + '/') && !url.startsWith(`blob:${this.base}/`) && !url.startsWith('data:')) {
        this.problems.push(`a request of ${url}`)
      }
    })
    this.page.on('console', (m) => m.type() === 'error' && this.problems.push(`console: ${m.text()}`))
    this.page.on('pageerror', (e) => this.problems.push(`exception: ${e.stack}`))
    await this.page.addInitScript(() => {
      window.__problems = []
      addEventListener('securitypolicyviolation', (e) => window.__problems.push(`policy: ${e.violatedDirective} ${e.blockedURI}`), true)
      addEventListener('webglcontextlost', () => window.__problems.push('the WebGL context is lost'), true)
    })
  }

  /** Shows a page of the console. */
  async show(hash) {
    await this.page.goto(`${this.base}/${hash}`)
  }

  /** The size in bytes over the wire of all answers so far. */
  async transferred() {
    let sum = 0
    for (const r of this.requests) {
      const sizes = await r.sizes().catch(() => null)
      if (sizes) sum += sizes.responseBodySize + sizes.responseHeadersSize
    }
    return sum
  }

  /** The pixels of an element. */
  async pixels(selector) {
    return decode(await this.page.locator(selector).screenshot())
  }

  /** Waits until the share of an element's pixels that a test accepts reaches a minimum. */
  async waitForPixels(selector, accept, min, what) {
    let share = 0
    for (const end = Date.now() + 20_000; Date.now() < end;) {
      share = shareOf(await this.pixels(selector), accept)
      if (share >= min) return share
      await this.page.waitForTimeout(200)
    }
    assert.fail(`${what}: ${(100 * share).toFixed(2)} % of the pixels of ${selector}, want ${100 * min} %`)
  }

  /** Asserts that axe finds nothing serious on the page. */
  async checkAccessibility(name) {
    const { violations } = await new AxeBuilder({ page: this.page }).analyze()
    const found = violations.filter((v) => ['serious', 'critical'].includes(v.impact))
    assert.deepEqual(found.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join('; ')}`), [], name)
  }

  /** Asserts that nothing has happened that must not. */
  async checkProblems() {
    this.problems.push(...await this.page.evaluate(() => window.__problems))
    const found = this.problems.filter((p) => !this.expected.some((e) => e.test(p)))
    assert.deepEqual(found, [])
  }

  async close() {
    await this.browser?.close()
  }
}

/** The share of pixels that accept(r, g, b) accepts. */
export function shareOf({ width, height, rgb }, accept) {
  let n = 0
  for (let i = 0; i < rgb.length; i += 3) if (accept(rgb[i], rgb[i + 1], rgb[i + 2])) n++
  return n / (width * height)
}

/** Features without a colour of their own are blue; sea, land and borders are not. */
export const blue = (r, g, b) => b > 140 && b > r + 60

/** The standard deviation of brightness: 0 for an image of one colour. */
export function deviation({ rgb }) {
  let sum = 0, squares = 0
  const n = rgb.length / 3
  for (let i = 0; i < rgb.length; i += 3) {
    const v = (rgb[i] + rgb[i + 1] + rgb[i + 2]) / 3
    sum += v
    squares += v * v
  }
  return Math.sqrt(Math.max(0, squares / n - (sum / n) ** 2))
}
