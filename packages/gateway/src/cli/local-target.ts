/**
 * A closed folder, opened for `check` and `inspect`.
 */
import { OperationError } from './errors.ts'
import type { Target } from './target.ts'

/** @param dir - absolute path of the data folder */
export async function openFolder(dir: string): Promise<Target> {
  throw new OperationError(`opening a folder (${dir}) is not built yet; ask a running server`)
}
