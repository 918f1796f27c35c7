/** Entities for the tests of Data, and the rows of its table. */
import type { Page } from 'playwright-core'
import { commit } from './commit.ts'

export type Properties = Readonly<Record<string, object>>

/** Entities of a kind with the ids 1 to `count`. */
export async function seed(
  origin: string,
  kind: string,
  count: number,
  properties: (i: number) => Properties,
  { project = 'demo', database = '', namespace = '' } = {},
): Promise<void> {
  const partitionId = { projectId: project, databaseId: database, namespaceId: namespace }
  for (let at = 1; at <= count; at += 500) {
    const ids = Array.from({ length: Math.min(500, count - at + 1) }, (_, i) => at + i)
    const mutations = ids.map((id) => ({
      upsert: { key: { partitionId, path: [{ kind, id: String(id) }] }, properties: properties(id) },
    }))
    await commit(origin, mutations, { project, databaseId: database })
  }
}

export const text = (stringValue: string) => ({ stringValue })
export const integer = (value: number) => ({ integerValue: String(value) })
export const tasks = (i: number): Properties => ({
  title: text(`Task ${i}`),
  done: { booleanValue: i % 3 === 0 },
  rank: integer(-i),
  owner: { keyValue: { path: [{ kind: 'User', name: ['ada', 'grace', 'edsger'][i % 3] }] } },
  due: { timestampValue: `2030-01-${String((i % 28) + 1).padStart(2, '0')}T09:00:00.000007Z` },
})

export const rows = (page: Page) =>
  page.getByRole('grid', { name: 'Results' }).locator('.virtual-table-body [role="row"]')
export const firstRow = (page: Page, words: string | RegExp) => rows(page).first().filter({ hasText: words }).waitFor()
