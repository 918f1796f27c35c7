import { describe, expect, it } from 'vitest'
import { runLab } from '../runner.ts'
import { armYours, labOf, Program } from './challenge.ts'
import { likeButton } from './like-button.ts'

const run = async (program: Program) =>
  runLab(labOf(likeButton, { given: program, yours: program }), { seed: 1, arms: [armYours] })

describe('like-button', () => {
  it('tells a mistake of the program from a like that the store refused', async () => {
    const nothing = (): void => {}
    const like = (db: { putt(): void }): void => db.putt()
    const misspelled = new Program({ like, likes: () => 0, everySecond: nothing })
    await expect(run(misspelled)).rejects.toThrow('db.putt is not a function')
  })
})
