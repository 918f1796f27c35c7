/** Runs `sixtables-lab` in this process, as a test that reads its output needs it. */
import { writeFileSync } from 'node:fs'
import { main } from '../../src/cli/main.ts'
import { plainWriter } from '../../src/report/ink.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** @param writeFile - takes the files of `--json` and `--html`; default: they are written */
export async function labCommand(
  args: readonly string[],
  writeFile: (path: string, text: string) => void = writeFileSync,
): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await main(args, {
    out: (line) => out.push(line),
    outRaw: (text) => out.push(text),
    err: (line) => err.push(line),
    ink: () => plainWriter((line) => out.push(line)),
    progress: () => {},
    writeFile,
    now: () => 0,
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}
