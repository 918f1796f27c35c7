/**
 * The file index.yaml of a store. It is read when the store is opened and again when a query lacks an index, and written when
 * an index was made for a query.
 *
 * The file is written under another name and renamed, so it is always complete. Before each write it is read again, so that
 * changes a person made above the marker meanwhile are kept. A file that cannot be read or written stops no query:
 * `onTrouble` gets a message, and the last content that could be read counts.
 */
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { DatastoreError, systemCode } from '../errors.ts'
import type { IndexDefinition } from '../model/index-definition.ts'
import { identityOf } from './definition.ts'
import { type IndexFileText, parseIndexYaml, withGenerated } from './index-yaml.ts'

export interface IndexFileOptions {
  readonly path: string
  readonly onTrouble: (trouble: string) => void
  /** Never writes the file, because other processes would write it at the same time. */
  readonly isReadOnly?: boolean | undefined
}

const nothing: IndexFileText = { manual: [], generated: [], hasMarker: true, notes: [] }

export class IndexFile {
  readonly path: string
  readonly #options: IndexFileOptions
  #text: string | undefined
  #parsed: IndexFileText = nothing
  /** Identifies the file's content when it was last read; empty: there was no file. */
  #stamp: string | undefined
  /** The last of the changes, which run one after the other. */
  #tail: Promise<void> = Promise.resolve()

  private constructor(options: IndexFileOptions) {
    this.path = options.path
    this.#options = options
  }

  /** Reads the file, if there is one. @throws INVALID_ARGUMENT with file and line if it is malformed */
  static async open(options: IndexFileOptions): Promise<IndexFile> {
    const file = new IndexFile(options)
    await file.#read()
    for (const note of file.#parsed.notes) options.onTrouble(`${file.path}: ${note}`)
    return file
  }

  /** As last read or written, the manual ones first. */
  get definitions(): readonly IndexDefinition[] {
    return [...this.#parsed.manual, ...this.#parsed.generated]
  }

  isManual(definition: IndexDefinition): boolean {
    return has(this.#parsed.manual, definition)
  }

  refresh(): Promise<void> {
    return this.#inTurn(() => this.#read())
  }

  /** Adds a generated entry, unless the file has it or has no marker. */
  add(definition: IndexDefinition): Promise<void> {
    return this.#change((generated) => (has(this.definitions, definition) ? generated : [...generated, definition]))
  }

  remove(definition: IndexDefinition): Promise<void> {
    return this.#change((generated) => generated.filter((other) => !has([other], definition)))
  }

  #change(changed: (generated: readonly IndexDefinition[]) => readonly IndexDefinition[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read()
      const { generated } = this.#parsed
      const after = changed(generated)
      if (after.length !== generated.length) await this.#write(after)
    })
  }

  /** Creates the file with the marker alone, if there is none. */
  create(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#text === undefined) await this.#write([])
    })
  }

  async #read(): Promise<void> {
    const refuse = (cause: unknown): never => {
      throw new DatastoreError('FAILED_PRECONDITION', `${this.path} cannot be read (${systemCode(cause)})`, { cause })
    }
    const stamp = await stampOf(this.path).catch((error) => (systemCode(error) === 'ENOENT' ? '' : refuse(error)))
    if (stamp === this.#stamp) return
    const text = stamp === '' ? undefined : await readFile(this.path, 'utf8').catch(refuse)
    try {
      this.#parsed = text === undefined || text.trim() === '' ? nothing : await parseIndexYaml(text)
    } catch (error) {
      // The stamp stays old: until a person corrects the file, each call reads it again, and none overwrites it.
      if (!(error instanceof DatastoreError)) throw error
      throw new DatastoreError(error.code, `${this.path}: ${error.message}`, { cause: error })
    }
    this.#text = text
    this.#stamp = stamp
  }

  async #write(generated: readonly IndexDefinition[]): Promise<void> {
    if (this.#options.isReadOnly || !this.#parsed.hasMarker) return
    const text = withGenerated(this.#text, generated)
    const draft = `${this.path}.new`
    await writeFile(draft, text)
    // Before the rename, which keeps the stamp: a change right after the rename has another one.
    const stamp = await stampOf(draft)
    await rename(draft, this.path)
    this.#stamp = stamp
    this.#text = text
    this.#parsed = { ...this.#parsed, generated }
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(task).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.onTrouble(reason.includes(this.path) ? reason : `${this.path}: ${reason}`)
    })
    return this.#tail
  }
}

function has(definitions: readonly IndexDefinition[], definition: IndexDefinition): boolean {
  const identity = identityOf(definition)
  return definitions.some((other) => identityOf(other) === identity)
}

async function stampOf(path: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path)
  return `${mtimeMs} ${size} ${ino}`
}
