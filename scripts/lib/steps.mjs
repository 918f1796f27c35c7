/**
 * Steps of a command that tests the built product. A failure does not stop the steps after it.
 *
 *   smoke: ok      an entity is saved
 *   smoke: FAILED  SIGTERM ends the server with exit code 0        and the stack
 *   smoke: 9 passed, 1 failed                                      the last line
 */

/**
 * @param options - `name` begins each line; `onStep` is called before each step
 * @returns `step(name, body)`, which returns the body's result, or `undefined` if it threw; `end()`, which prints the last line and
 *   returns the exit code
 */
export function steps({ name, onStep = () => {} }) {
  let passed = 0
  let failed = 0
  return {
    async step(title, body) {
      onStep()
      try {
        const result = await body()
        passed++
        process.stdout.write(`${name}: ok      ${title}\n`)
        return result
      } catch (error) {
        failed++
        process.stdout.write(`${name}: FAILED  ${title}\n${error.stack}\n`)
        return undefined
      }
    },
    end() {
      process.stdout.write(`${name}: ${passed} passed, ${failed} failed\n`)
      return failed === 0 ? 0 : 1
    },
  }
}
