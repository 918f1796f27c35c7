/**
 * The commands of GQL's golden scripts.
 *
 *   put ToDo:1 {"owner": "ada"}        an entity, its properties as fixtures have them
 *   SELECT … | AGGREGATE …             what it finds
 *   plan SELECT …                      how it is read
 *   tree SELECT …                      the text again, from what was understood
 */
import { decodeProperties, type Engine, openEngine, type Query } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { fixtureOf } from '../../src/fixtures/fixture.ts'
import type { PlainProperties } from '../../src/fixtures/plain-entities.ts'
import { formatPath, plainOf } from '../../src/fixtures/plain-value.ts'
import { seedDatabase } from '../../src/fixtures/seed.ts'
import { gqlAggregationOf, gqlQueryOf } from '../../src/gql/gql.ts'
import { parseGql } from '../../src/gql/parse.ts'
import { printGql } from '../../src/gql/print.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

function wire(queryString: string) {
  return { queryString, allowLiterals: true, namedBindings: {}, positionalBindings: [] }
}

/** One engine in memory and what a script says to it. */
export class GqlScript {
  #engine: Engine | undefined

  async #open(): Promise<Engine> {
    this.#engine ??= await openEngine({ scheduler: new VirtualClock(), indexFile: false })
    return this.#engine
  }

  /** Lines that the command prints; a refusal is one of them. */
  async run(command: string): Promise<readonly string[]> {
    const [, verb = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(command) ?? []
    try {
      switch (verb) {
        case 'put':
          return await this.#put(rest)
        case 'plan':
          return await this.#plan(gqlQueryOf(wire(rest), partition))
        case 'tree':
          return [printGql(parseGql(rest, { allowLiterals: true }))]
        default:
          return await this.#find(command)
      }
    } catch (error) {
      if (error instanceof Error && 'code' in error) return [`${error.code}: ${error.message}`]
      throw error
    }
  }

  async #put(text: string): Promise<readonly string[]> {
    const space = text.indexOf(' ')
    const properties = JSON.parse(text.slice(space)) as PlainProperties
    const engine = await this.#open()
    await seedDatabase(engine.database('p'), fixtureOf([{ key: text.slice(0, space), properties }]))
    return []
  }

  async #plan(query: Query): Promise<readonly string[]> {
    const engine = await this.#open()
    const { metrics } = await engine.database('p').explainQuery(engine.context(), { query }, { analyze: false })
    return metrics.plan.split('\n')
  }

  async #find(text: string): Promise<readonly string[]> {
    const engine = await this.#open()
    const database = engine.database('p')
    if (parseGql(text, { allowLiterals: true }).type === 'aggregate') {
      const { values } = await database.runAggregationQuery(engine.context(), gqlAggregationOf(wire(text), partition))
      return [...values].map(([name, value]) => `${name}: ${JSON.stringify(plainOf(value, partition))}`)
    }
    const batch = await database.runQuery(engine.context(), { query: gqlQueryOf(wire(text), partition) })
    return batch.results.map(({ key, image, projected }) => {
      const bytes = image?.properties ?? projected
      const words = [...(bytes === undefined ? [] : decodeProperties(bytes))].map(
        // A projected value is marked by its meaning as one from an index: the same on every line.
        ([name, { meaning: _fromIndex, ...value }]) => `${name}: ${JSON.stringify(plainOf(value, partition))}`,
      )
      return [formatPath(key.path), ...(words.length === 0 ? [] : [`{${words.join(', ')}}`])].join(' ')
    })
  }
}
