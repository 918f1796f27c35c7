/** Accessibility of a page by axe-core: the rules of WCAG 2.2 A and AA, and its best practices. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { drawn } from './browser.ts'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Each violation in one line: the rule, where it is, and what axe says of it.
 *
 * @param rules - all by default; of a second theme contrast alone is worth a look
 */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Half way through an animation a text may have any contrast.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) animation.finish()
  })
  // Evaluated through the debugger, to which the content security policy does not apply; once in a document, as it takes long to read.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  return page.evaluate(async (wanted) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(document, {
      resultTypes: ['violations'],
      ...(wanted === undefined ? {} : { runOnly: [...wanted] }),
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
    )
  }, rules)
}

/** Whether anything makes the page itself scroll sideways. */
export async function sidewaysOverflow(page: Page): Promise<number> {
  // Pictures get their size in the frame after that of the page.
  await drawn(page)
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}
