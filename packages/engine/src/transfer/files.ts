/** Opening files of an export, with errors that name the file, the problem and the remedy. */
import { constants, type FileHandle, open } from 'node:fs/promises'
import { DatastoreError, failedPrecondition, invalidArgument, systemCode } from '../errors.ts'

/** Opens a file, but no pipe, which may never answer. @throws NOT_FOUND, FAILED_PRECONDITION, INVALID_ARGUMENT above `bytesMax` */
export async function openForReading(path: string, bytesMax: number = Number.POSITIVE_INFINITY): Promise<FileHandle> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') throw new DatastoreError('NOT_FOUND', `there is no file ${path}`, { cause: error })
    throw cannot('read', path, error)
  }
  const found = await file.stat()
  if (found.isFile() && found.size <= bytesMax) return file
  await file.close()
  if (!found.isFile()) throw failedPrecondition(`${path} is not a file; an import reads files`)
  throw invalidArgument(`${path} has ${found.size} bytes, at most ${bytesMax} are read; divide the export by kinds`)
}

/** Size of a metadata file: 1,000 folders with the longest names. */
export const metadataBytesMax: number = 4 * 1024 * 1024

/** A metadata file, whole. @throws as {@link openForReading} */
export async function readMetadata(path: string): Promise<Buffer> {
  const file = await openForReading(path, metadataBytesMax)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

export function cannot(verb: 'read' | 'write', path: string, cause: unknown): DatastoreError {
  if (cause instanceof DatastoreError) return cause
  const why = `${path} cannot be ${verb === 'read' ? 'read' : 'written'} (${systemCode(cause)})`
  return new DatastoreError('FAILED_PRECONDITION', `${why}; see to the rights and the disk, or name another place`, {
    cause,
  })
}
