/** A wall clock of a process that a test sets with libfaketime: only that one, as on a machine, and no steady clock. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const library = process.env['SIXTABLES_FAKETIME'] ?? '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

export const hasFaketime: boolean = existsSync(library)

export class SetClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'clock-'))
  readonly #file = join(this.#folder, 'offset')

  constructor() {
    this.set(0)
  }

  /** Sets it so many seconds ahead; below 0, behind. */
  set(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? '' : '+'}${seconds}s`)
  }

  /** The variables of a process that has this clock. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}
