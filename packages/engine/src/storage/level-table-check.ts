/**
 * Checks LevelDB's table files. LevelDB reads blocks without comparing their checksums (known: its default, and classic-level
 * has no option): a changed byte would reach clients, or end the process by an assertion (seen). So all tables are checked
 * before LevelDB opens them, and by `check`.
 *
 *   file    = block* footer (48 bytes)
 *   block   = content | type 1 (0 plain, 1 Snappy) | checksum 4    masked CRC-32C over content and type
 *   footer  = handle of the meta index, handle of the index, zeros up to 40 bytes, magic 8
 *   handle  = offset, size of the content: varints
 *   index, meta index = (shared, unshared, value length: varints; unshared bytes of key; value: a block's handle)* restarts
 *   restarts = offset 4 *, how many 4
 *
 * Known: LevelDB's public description of the format.
 */
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32c, maskCrc } from '../encoding/crc32c.ts'
import { levelFile, tableNumberOf } from '../leveldb/file-names.ts'
import { unsnap } from '../leveldb/snappy.ts'
import { varintAt } from '../leveldb/varint.ts'
import type { FileDamage } from './kv.ts'

interface Handle {
  readonly offset: number
  readonly size: number
}

const footerBytes = 48
const trailerBytes = 5
const magic = 0xdb4775248b80fb57n
const plain = 0
const snappy = 1

/** The bytes of one read and check: two milliseconds. */
const runBytes = 1 << 20

/** The first damage of each damaged table. @param tables - numbers of files, with their sizes if they are known */
export async function damageOfTables(
  rows: string,
  tables: Iterable<readonly [table: number, size: number | undefined]>,
  onFile?: () => void,
): Promise<FileDamage[]> {
  const found: FileDamage[] = []
  const names = new Map((await readdir(rows)).map((name) => [tableNumberOf(name), name]))
  for (const [table, size] of tables) {
    onFile?.()
    const file = names.get(table)
    const what = file === undefined ? 'the file is gone' : await damageOfTable(join(rows, file), size)
    if (what !== undefined) found.push({ file: file ?? levelFile(table, 'ldb'), what })
  }
  return found
}

async function damageOfTable(path: string, expectedSize: number | undefined): Promise<string | undefined> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    const { size } = await file.stat()
    if (expectedSize !== undefined && size !== expectedSize) return `it has ${size} bytes instead of ${expectedSize}`
    if (size < footerBytes) return `it has ${size} bytes, and a table has at least ${footerBytes}`
    const footer = await read(file, { offset: size - footerBytes, size: footerBytes })
    if (footer.readBigUInt64LE(footerBytes - 8) !== magic) return 'it does not end as a table does'
    const metaIndex = handleAt(footer, 0)
    const index = await block(file, handleAt(footer, metaIndex.next).handle)
    // A filter with a changed byte would deny existing keys.
    const filters = handlesOf(await block(file, metaIndex.handle))
    for (const run of runsOf([...handlesOf(index), ...filters])) await checkRun(file, run)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await file?.close()
  }
}

async function read(file: FileHandle, { offset, size }: Handle): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size)
  const { bytesRead } = await file.read(buffer, 0, size, offset)
  if (bytesRead < size) throw new RangeError(`it ends within the ${size} bytes from byte ${offset} on`)
  return buffer
}

async function block(file: FileHandle, { offset, size }: Handle): Promise<Buffer> {
  const bytes = await read(file, { offset, size: size + trailerBytes })
  checkBlock(bytes, 0, { offset, size })
  const type = bytes.readUInt8(size)
  if (type === plain) return bytes.subarray(0, size)
  if (type === snappy) return unsnap(bytes.subarray(0, size))
  throw new RangeError(`the block at byte ${offset} has the unknown type ${type}`)
}

/** Adjacent blocks in groups of about {@link runBytes}. */
function* runsOf(handles: readonly Handle[]): Generator<readonly Handle[], void, undefined> {
  let run: Handle[] = []
  let start = 0
  let end = 0
  for (const handle of handles) {
    if (handle.offset !== end || end - start > runBytes) {
      yield run
      run = []
      start = handle.offset
    }
    run.push(handle)
    end = handle.offset + handle.size + trailerBytes
  }
  yield run
}

async function checkRun(file: FileHandle, run: readonly Handle[]): Promise<void> {
  const [first, last] = [run[0], run.at(-1)]
  if (first === undefined || last === undefined) return
  const bytes = await read(file, { offset: first.offset, size: last.offset + last.size + trailerBytes - first.offset })
  for (const handle of run) checkBlock(bytes, handle.offset - first.offset, handle)
}

/** @param at - the offset of the block in `bytes` */
function checkBlock(bytes: Buffer, at: number, { offset, size }: Handle): void {
  const checksumAt = at + size + 1
  if (bytes.readUInt32LE(checksumAt) !== maskCrc(crc32c(bytes, at, checksumAt))) {
    throw new RangeError(`the checksum of the ${size} bytes from byte ${offset} on is wrong`)
  }
}

function handleAt(bytes: Buffer, at: number): { readonly handle: Handle; readonly next: number } {
  const offset = varintAt(bytes, at)
  const size = varintAt(bytes, offset.next)
  return { handle: { offset: offset.value, size: size.value }, next: size.next }
}

/** The handles of an index block: the rows' index names blocks of rows, the meta index filters. */
function* handlesOf(index: Buffer): Generator<Handle, void, undefined> {
  const end = index.length - 4 - 4 * index.readUInt32LE(index.length - 4)
  for (let at = 0; at < end; ) {
    const shared = varintAt(index, at)
    const unshared = varintAt(index, shared.next)
    const length = varintAt(index, unshared.next)
    const valueAt = length.next + unshared.value
    yield handleAt(index, valueAt).handle
    at = valueAt + length.value
  }
}
