/**
 * Errors of one class as results: the value of a task, or the error of that class that it throws. Other errors are thrown on.
 *
 *   const read = caught(GqlError, () => statementIn(text))       a Statement, or a GqlError with the place of the mistake
 */
export function caught<T, E extends Error>(type: new (...args: never[]) => E, task: () => T): T | E {
  try {
    return task()
  } catch (error) {
    if (error instanceof type) return error
    throw error
  }
}
