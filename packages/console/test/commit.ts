/** Entities for the tests of the console, written as a program in any language does. */
import { expect } from 'vitest'

export async function commit(
  origin: string,
  mutations: readonly object[],
  { project = 'demo', databaseId = '' } = {},
): Promise<void> {
  const answer = await fetch(`${origin}/v1/projects/${project}:commit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ databaseId, mode: 'NON_TRANSACTIONAL', mutations }),
  })
  expect(answer.status, await answer.text()).toBe(200)
}
