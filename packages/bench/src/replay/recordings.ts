/** The recordings of the package, as text. A bundle for a browser has them in it. */
import { readFileSync } from 'node:fs'

export function recordingOf(name: string): string {
  return readFileSync(new URL(`../../recordings/${name}.jsonl`, import.meta.url), 'utf8')
}
