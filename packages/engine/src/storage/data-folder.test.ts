import fs from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dataFormat, openDataFolder } from './data-folder.ts'

describe('a data folder', () => {
  let parent: string
  let dir: string

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'sixtables-folder-'))
    dir = join(parent, 'data')
  })

  afterEach(() => rm(parent, { recursive: true, force: true }))

  async function makeStore(): Promise<void> {
    const kv = await openDataFolder({ dir })
    await kv.mutate({ key: 'a', value: Uint8Array.of(1) })
    await kv.close()
  }

  const refusal = (code: string, words: RegExp) =>
    expect.objectContaining({ name: 'DatastoreError', code, message: expect.stringMatching(words) })

  it('is made with a format file, and keeps its rows from one opening to the next', async () => {
    await makeStore()
    expect((await readdir(dir)).sort()).toEqual(['rows', 'sixtables.json'])
    expect(JSON.parse(await readFile(join(dir, 'sixtables.json'), 'utf8'))).toMatchObject({ format: dataFormat })
    const kv = await openDataFolder({ dir })
    expect(kv.location).toBe(dir)
    expect(kv.get('a')).toEqual(Buffer.of(1))
    await kv.close()
  })

  it('is made with the folders above it', async () => {
    dir = join(parent, 'a', 'b', 'data')
    await makeStore()
    expect((await readdir(dir)).sort()).toEqual(['rows', 'sixtables.json'])
  })

  // Windows has no sync of a folder.
  it.skipIf(process.platform === 'win32')('syncs each folder in which it makes or renames something', async () => {
    dir = join(parent, 'above', 'data')
    const done: string[] = []
    const opened = new Map<number, string>()
    const { openSync, fsyncSync, renameSync } = fs
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
      const file = openSync(path, ...rest)
      opened.set(file, String(path))
      return file
    })
    vi.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
      done.push(`sync ${opened.get(file)}`)
      fsyncSync(file)
    })
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      done.push(`rename to ${to}`)
      renameSync(from, to)
    })
    syncBuiltinESMExports()
    await makeStore().finally(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })
    const format = join(dir, 'sixtables.json')
    const steps = [`sync ${parent}`, `sync ${join(parent, 'above')}`, `sync ${format}.new`, `rename to ${format}`]
    // Once for the format file, and once for the folder of the rows.
    expect(done.slice(0, 6)).toEqual([...steps, `sync ${dir}`, `sync ${dir}`])
  })

  it('is refused, and left as it is, when LevelDB has lost its CURRENT: it would delete the rows', async () => {
    await makeStore()
    await rm(join(dir, 'rows', 'CURRENT'))
    const before = (await readdir(join(dir, 'rows'))).sort()
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', /CURRENT/))
    expect((await readdir(join(dir, 'rows'))).sort()).toEqual(before)
  })

  // /proc is of Linux alone.
  it.skipIf(process.platform !== 'linux')('is refused where no folder can be', async () => {
    await expect(openDataFolder({ dir: '/proc/sixtables/data' })).rejects.toEqual(
      refusal('FAILED_PRECONDITION', /\/proc\/sixtables\/data/),
    )
  })

  it('may have been made empty, or with index.yaml and hidden files', async () => {
    await mkdir(dir)
    await writeFile(join(dir, 'index.yaml'), 'indexes: []')
    await writeFile(join(dir, '.gitignore'), '*')
    await makeStore()
    expect((await readdir(dir)).sort()).toEqual(['.gitignore', 'index.yaml', 'rows', 'sixtables.json'])
  })

  it('is refused while another store has it open, and free again once that is closed', async () => {
    const first = await openDataFolder({ dir })
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('UNAVAILABLE', /another process has it open/))
    await first.mutate({ key: 'still', value: Uint8Array.of(1) })
    await first.close()
    await (await openDataFolder({ dir })).close()
  })

  it.each([
    ['a newer format', JSON.stringify({ format: dataFormat + 1 }), /format 4.*up to 3.*newer version/],
    ['no number', '{"format": "one"}', /broken/],
    ['half a file', '{"form', /broken/],
    ['nothing', '', /broken/],
    ['an array', '[1]', /broken/],
    ['a format whose rows have no checksums', '{"format": 1}', /format 1.*formats from 2 on.*Export its data/],
    ['format 3, but rows of format 1', '{"format": 3, "checksums": false}', /format 1.*Export its data/],
  ])('is refused and left alone when its format file has %s', async (_, text, words) => {
    await makeStore()
    await writeFile(join(dir, 'sixtables.json'), text)
    const before = await readdir(join(dir, 'rows'))
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', words))
    expect(await readFile(join(dir, 'sixtables.json'), 'utf8')).toBe(text)
    expect(await readdir(join(dir, 'rows'))).toEqual(before)
  })

  it('is refused when it holds things of others, or rows without a format file', async () => {
    await mkdir(dir)
    await writeFile(join(dir, 'thesis.txt'), 'mine')
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', /thesis\.txt.*empty or a new/))
    expect(await readdir(dir)).toEqual(['thesis.txt'])
    await rm(join(dir, 'thesis.txt'))
    await makeStore()
    await rm(join(dir, 'sixtables.json'))
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', /rows but no sixtables\.json/))
  })

  it('is refused when it is a file, or lies under one', async () => {
    await writeFile(dir, 'a file')
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', /not a folder/))
    await expect(openDataFolder({ dir: join(dir, 'below') })).rejects.toEqual(
      refusal('FAILED_PRECONDITION', /not a folder|cannot be written/),
    )
  })

  it('is refused when it cannot be written', async (test) => {
    test.skip(process.getuid?.() === 0, 'the superuser may write everywhere')
    await mkdir(dir)
    await chmod(dir, 0o500)
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', /cannot be written/))
    await chmod(dir, 0o700)
  })

  it('is refused when the rows are damaged', async () => {
    await makeStore()
    await writeFile(join(dir, 'rows', 'CURRENT'), 'nonsense')
    await expect(openDataFolder({ dir })).rejects.toEqual(refusal('FAILED_PRECONDITION', /damaged|CURRENT/))
  })

  it('is not made when it must exist', async () => {
    for (const options of [{ mustExist: true }, { readOnly: true }]) {
      await expect(openDataFolder({ dir, ...options })).rejects.toEqual(
        refusal('FAILED_PRECONDITION', /no store in it/),
      )
    }
    expect(await readdir(parent)).toEqual([])
  })

  it('opened for reading only, answers reads and refuses writes', async () => {
    await makeStore()
    const kv = await openDataFolder({ dir, readOnly: true })
    expect(kv.get('a')).toEqual(Buffer.of(1))
    await expect(kv.mutate({ key: 'a', value: undefined })).rejects.toEqual(
      refusal('FAILED_PRECONDITION', /opened for reading only/),
    )
    expect(kv.get('a')).toEqual(Buffer.of(1))
    await kv.close()
  })

  it('keeps what was acknowledged with durability power', async () => {
    const kv = await openDataFolder({ dir, durability: 'power' })
    await kv.batch([{ key: 'a', value: Uint8Array.of(7) }])
    await kv.close()
    const again = await openDataFolder({ dir, mustExist: true })
    expect(again.get('a')).toEqual(Buffer.of(7))
    await again.close()
  })
})

it('a data folder of format 2 gets format 3 when it is opened for writing, so that an older version refuses its areas', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sixtables-format-'))
  const file = join(root, 'sixtables.json')
  const formatOf = async (): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'))
  await (await openDataFolder({ dir: root })).close()
  await writeFile(file, '{"format": 2}')
  await (await openDataFolder({ dir: root, readOnly: true })).close()
  expect(await formatOf()).toEqual({ format: 2 })
  await (await openDataFolder({ dir: root })).close()
  expect(await formatOf()).toEqual({ format: dataFormat, product: 'sixtables' })
  await rm(root, { recursive: true, force: true })
})
