/**
 * Patterns of the keys that are written: ascending ids and names, negative ids, slashes and dots in names.
 *
 *   sequential-keys        of the new entities under a root kind, 4 of 5 land next to one of the last 8; the keys of one
 *                          commit come together, and are compared with the commits before
 *   negative-id            the id of a written key is negative
 *   slash-or-dot-in-name   a slash in a kind or name, a dot in the name of a property (not of a nested one)
 */

import { EntityWalk } from '../../encoding/entity-walk.ts'
import { decodePath, splitKeyCode } from '../../encoding/key-codec.ts'
import { prettyPath } from '../../encoding/pretty.ts'
import { WireReader } from '../../encoding/wire.ts'
import { getOrInsert } from '../../get-or-insert.ts'
import type { PathElement } from '../../model/key.ts'
import { entityRowKey, propertiesOfImage } from '../../tables/entities.ts'
import { percent } from '../tablets/split-policy.ts'
import { LruMap } from './lru-map.ts'
import { OrderSample } from './order-sample.ts'
import { ShareWindow } from './share-window.ts'
import { kindInWords, kindSubject, type PickedChange, placeInWords, rowsAt, type Sighting } from './sighting.ts'

const subjectsMax = 256
/** With fewer keys in the sample, a new one lands beside a recent one by chance. */
const sampleMin = 32
const eventsMin = 64
const shareMin = 0.8
/** Entities of a kind whose property names are checked; later ones have the same names. */
const entitiesLookedAt = 16

interface KeyOrder {
  readonly sample: OrderSample
  readonly window: ShareWindow
  first: string
  last: string
}

export class KeyPatterns {
  readonly #orders = new LruMap<KeyOrder>(subjectsMax, () => ({
    sample: new OrderSample(),
    window: new ShareWindow(256),
    first: '',
    last: '',
  }))
  readonly #oddities = new Map<string, Sighting & { count: number }>()
  readonly #lookedAt = new LruMap<{ entities: number }>(subjectsMax, () => ({ entities: 0 }))

  noteCommitted(picked: readonly PickedChange[]): void {
    const added = new Map<string, string[]>()
    for (const { partition, change } of picked) {
      const { path, before, after } = change
      if (before !== undefined || after === undefined) continue
      const elements = decodePath(path, 0).path
      // By the root: its kind and key begin the rows of all its descendants.
      const subject = kindSubject(partition, elements.slice(0, 1))
      getOrInsert(added, subject, () => []).push(path)
      this.#noteOddities(partition, elements, after)
    }
    for (const [subject, paths] of added) this.#noteOrder(this.#orders.of(subject), paths.sort())
  }

  /** @param paths - ascending */
  #noteOrder(order: KeyOrder, paths: readonly string[]): void {
    const isJudged = order.sample.size >= sampleMin
    const landings = order.sample.add(paths)
    if (!isJudged) return
    for (const landing of landings) if (landing !== undefined) order.window.add(landing.follows)
    order.first ||= paths[0] ?? ''
    order.last = paths.at(-1) ?? ''
  }

  #noteOddities(partition: string, elements: readonly PathElement[], cell: Uint8Array): void {
    const place = placeInWords(partition)
    for (const { kind, id, name } of elements) {
      if (id !== undefined && id < 0n) {
        this.#odd('negative-id', `${kind}${place}`, `Entities of ${kind}${place} have negative ids.`, `${kind}:${id}`)
      }
      if (kind.includes('/')) {
        this.#odd('slash-or-dot-in-name', `kind ${kind}${place}`, `The kind "${kind}"${place} has a slash.`, kind)
      }
      if (name?.includes('/')) {
        this.#odd('slash-or-dot-in-name', `names of ${kind}${place}`, `Names of ${kind}${place} have slashes.`, name)
      }
    }
    const kind = elements.at(-1)?.kind ?? ''
    const looked = this.#lookedAt.of(kindSubject(partition, elements))
    if (looked.entities++ >= entitiesLookedAt) return
    // Names alone: a value can be an array of 140,000 elements.
    const walk = new EntityWalk(new WireReader(propertiesOfImage(cell)))
    while (walk.nextProperty()) {
      const { text: property, dotted } = walk.name()
      if (!dotted) continue
      const words = `The property "${property}" of ${kind}${place} has a dot in its name, like a property of a nested entity.`
      this.#odd('slash-or-dot-in-name', `${kind}.${property}${place}`, words, property)
    }
  }

  #odd(kind: Sighting['kind'], subject: string, words: string, example: string): void {
    const name = `${kind} ${subject}`
    const known = this.#oddities.get(name)
    if (known !== undefined) known.count++
    else if (this.#oddities.size < subjectsMax) {
      const evidence = [`for example ${example}`]
      this.#oddities.set(name, { kind, subject, words, evidence, share: 1, count: 1 })
    }
  }

  *sightings(): Iterable<Sighting> {
    for (const [name, { window, first, last }] of this.#orders.entries()) {
      const subject = kindInWords(name)
      const { events, hits, share, hitsEver } = window
      if (events < eventsMin || share < shareMin) continue
      yield {
        kind: 'sequential-keys',
        subject,
        words: `New entities of ${subject} come in the order of their keys: all writes meet the tablet at the end.`,
        evidence: [
          `${hits} of the last ${events} new keys (${percent(share)}) lie right beside one of the 8 before`,
          `from ${wordsOf(first)} to ${wordsOf(last)}`,
        ],
        share,
        count: hitsEver,
        place: rowsAt('Entities', entityRowKey(splitKeyCode(name).partition, last)),
      }
    }
    yield* this.#oddities.values()
  }
}

function wordsOf(path: string): string {
  return path === '' ? '' : prettyPath(decodePath(path, 0).path)
}
