/** Makes folders for the data folder and for exports. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from './errors.ts'

/**
 * Makes a folder and its parents one by one: Node's recursive mkdir may never return (Node 20, below /proc). Mkdir of a root
 * fails by system: EISDIR, EPERM, ENOENT.
 * @param made - called after each, with the folder that it is in
 */
export async function makeFolder(dir: string, made?: (parent: string) => void): Promise<void> {
  const parent = dirname(dir)
  try {
    await mkdir(dir)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST' || existsSync(dir)) return
    if (code !== 'ENOENT' || parent === dir || existsSync(parent)) throw error
    await makeFolder(parent, made)
    await mkdir(dir).catch((again: unknown) => {
      if (systemCode(again) !== 'EEXIST') throw again
    })
  }
  made?.(parent)
}
