/**
 * The turns of commits at their entity groups, within a gateway: one after the other, in the order in which they came.
 *
 *   waits for ToDo:1      its turn                                  a turn of a commit of several groups is its own
 *   put, put, delete ──▶  one read, one stamp each, one append      commits of ToDo:1 that come during a turn share the next one
 */
import type { GroupCode } from '@sixtables/engine/store'

const sharingMax = 64

export class CommitTurns<Commit> {
  /** The end of the latest turn of each group. */
  readonly #latest = new Map<GroupCode, Promise<void>>()
  /** The commits of the turn that has not begun. */
  readonly #gathering = new Map<GroupCode, Commit[]>()

  /** Runs a turn after the earlier ones of any of the groups. */
  async take<T>(groups: readonly GroupCode[], turn: () => Promise<T>): Promise<T> {
    const before = groups.map((group) => this.#latest.get(group))
    let leave = (): void => {}
    const over = new Promise<void>((resolve) => {
      leave = resolve
    })
    for (const group of groups) this.#latest.set(group, over)
    try {
      await Promise.all(before)
      return await turn()
    } finally {
      for (const group of groups) if (this.#latest.get(group) === over) this.#latest.delete(group)
      leave()
    }
  }

  /** Adds a commit to the next turn of its group. @param turn - runs with all commits of the turn, if this one is its first */
  async share(group: GroupCode, commit: Commit, turn: (commits: readonly Commit[]) => Promise<void>): Promise<void> {
    const others = this.#gathering.get(group)
    if (others !== undefined && others.length < sharingMax) {
      others.push(commit)
      return
    }
    const commits = [commit]
    this.#gathering.set(group, commits)
    await this.take([group], () => {
      if (this.#gathering.get(group) === commits) this.#gathering.delete(group)
      return turn(commits)
    })
  }
}
