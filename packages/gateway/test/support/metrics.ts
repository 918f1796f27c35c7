/** The samples of `GET /metrics`. */
import { expect } from 'vitest'

/** Values by the name and labels of a sample. */
export async function scrape(address: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://${address}/metrics`)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name = '', value] = /^(\S+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? []
      return [name, Number(value)]
    }),
  )
}
