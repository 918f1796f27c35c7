/** The location of a thread's program, which Node starts from its compiled file. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @param path - below the package's folder of compiled files, in which this file is, or its bundle beside it
 * @returns `undefined` among the sources, which have none
 */
export function builtFile(path: string): string | undefined {
  return ['./', '../'].map((folder) => fileURLToPath(new URL(folder + path, import.meta.url))).find(existsSync)
}
