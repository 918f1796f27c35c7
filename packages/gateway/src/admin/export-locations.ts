/**
 * Locations of exports: from the name in a request to a folder or file on this machine.
 *
 *   gs://bucket/path      <root>/buckets/bucket/path       root: the data folder, or in memory the working folder
 *   file:///path, /path   /path                            a relative path is below the working folder
 *
 * A gs:// name must stay in its bucket's folder: gs://bucket/../../etc is refused.
 *
 * Known: production and gcloud use gs:// names only. Measured: Google's emulator accepts plain paths.
 */
import { existsSync } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Engine, invalidArgument, notFound, overallSuffix } from '@sixtables/engine'
import { reasonOf } from '../reason.ts'

export interface Place {
  readonly path: string
  /** The name, for the caller, of a path below it. */
  nameOf(relative: string): string
  readonly isBucket: boolean
}

export class ExportLocations {
  readonly has: (path: string) => boolean = existsSync
  readonly below: (path: string, name: string) => string = resolve
  readonly metadataFileOf: typeof metadataFileOf = metadataFileOf
  readonly #root: string

  constructor({ location }: Pick<Engine['store'], 'location'>) {
    this.#root = location === 'memory' ? process.cwd() : location
  }

  placeOf(name: string, member: string): Place {
    if (name === '') throw invalidArgument(`${member} is empty; it is a gs:// place or a path on this machine`)
    if (name.startsWith('gs://')) return this.#bucketPlace(name, member)
    if (name.startsWith('file://')) return localPlace(pathOfUrl(name, member))
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) {
      throw invalidArgument(`${member} ${JSON.stringify(name)}: only gs:// places and paths on this machine are served`)
    }
    return localPlace(resolve(name))
  }

  #bucketPlace(name: string, member: string): Place {
    const parts = name.slice('gs://'.length).split('/').filter(Boolean)
    if (parts.length === 0) throw invalidArgument(`${member} ${JSON.stringify(name)} names no bucket`)
    if (parts.some((part) => part === '.' || part === '..' || /[\\\0]/.test(part))) {
      throw invalidArgument(`${member} ${JSON.stringify(name)} has a part that cannot be the name of a folder`)
    }
    return {
      path: join(this.#root, 'buckets', ...parts),
      nameOf: (relative) => `gs://${[...parts, relative].join('/')}`,
      isBucket: true,
    }
  }
}

function localPlace(path: string): Place {
  return { path, nameOf: (relative) => join(path, relative), isBucket: false }
}

function pathOfUrl(url: string, member: string): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw invalidArgument(`${member} ${JSON.stringify(url)}: ${reasonOf(error)}`)
  }
}

/** A file itself, or the only overall metadata file in a folder or its subfolders. @throws NOT_FOUND; INVALID_ARGUMENT for several */
export async function metadataFileOf(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return path
  const found: string[] = []
  for await (const entry of await opendir(path)) {
    const below = join(path, entry.name)
    if (entry.isFile() && entry.name.endsWith(overallSuffix)) found.push(below)
    else if (entry.isDirectory()) {
      for await (const { name } of await opendir(below)) if (name.endsWith(overallSuffix)) found.push(join(below, name))
    }
  }
  const [first, second] = found
  if (first === undefined) {
    throw notFound(`there is no file in ${path} that ends in ${overallSuffix}`)
  }
  if (second !== undefined) {
    throw invalidArgument(`there are several exports in ${path}, ${first} and ${second} among them; name one of them`)
  }
  return first
}
