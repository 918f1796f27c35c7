/** Opening files of an export, with errors that name the file, the problem and the remedy. */
import { type FileHandle, open } from 'node:fs/promises'
import { DatastoreError } from '../errors.ts'

/** The system's error code, such as ENOENT. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** @throws DatastoreError NOT_FOUND, FAILED_PRECONDITION */
export async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') throw new DatastoreError('NOT_FOUND', `there is no file ${path}`, { cause: error })
    throw cannot('read', path, error)
  }
}

export function cannot(verb: 'read' | 'write', path: string, cause: unknown): DatastoreError {
  if (cause instanceof DatastoreError) return cause
  const why = `${path} cannot be ${verb === 'read' ? 'read' : 'written'} (${systemCode(cause)})`
  return new DatastoreError('FAILED_PRECONDITION', `${why}; see to the rights and the disk, or name another place`, {
    cause,
  })
}
