/** The contrast of the page's colours, computed as WCAG 2 does: at least 4.5:1, in light and in dark. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('../page/page.css', import.meta.url), 'utf8')
const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, body]) => body)

const schemes = { light: coloursOf(light), dark: coloursOf(dark) }

function coloursOf(body: string): ReadonlyMap<string, string> {
  return new Map([...body.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]))
}

/** Of #rrggbb, 0 to 1. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

describe.each(Object.entries(schemes))('the %s scheme', (_name, colours) => {
  // Lines between rows and around boxes carry no meaning.
  const drawn = [...colours.keys()].filter((name) => !['--paper', '--panel', '--line'].includes(name))

  it.each(drawn)('%s can be read on paper and panel', (name) => {
    for (const ground of ['--paper', '--panel'])
      expect(contrast(colours.get(name) ?? '', colours.get(ground) ?? '')).toBeGreaterThanOrEqual(4.5)
  })
})

it('both schemes have the same colours', () => {
  expect(schemes.light.size).toBeGreaterThan(15)
  expect([...schemes.dark.keys()]).toEqual([...schemes.light.keys()])
})

it('black on white is 21:1', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
})

it('no colour is named elsewhere, and nothing is made fainter', () => {
  const rules = css.replaceAll(/:root \{[^}]*\}/g, '').replaceAll(/@keyframes[\s\S]*?\n {2}\}/g, '')
  expect(rules).not.toMatch(/#[0-9a-f]{3,8}\b|opacity/)
})
