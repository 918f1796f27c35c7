/**
 * Answers to questions that overlap. They may come in another order than they were asked in, and an older one is not to replace a newer.
 *
 *   const isNewest = answers.ask()
 *   const answer = await …
 *   if (isNewest()) show(answer)
 *
 * NA1  What is shown is never older than what was shown before.            newest-answer.test.ts
 */
export class NewestAnswer {
  #asked = 0
  #shown = 0

  /** @returns is called once, with the answer: whether it may be shown */
  ask(): () => boolean {
    const order = ++this.#asked
    return () => {
      if (order < this.#shown) return false
      this.#shown = order
      return true
    }
  }

  /** Something newer than all answers to come is known. */
  overtake(): void {
    this.#shown = ++this.#asked
  }
}
