/**
 * Users who follow a topic and leave it again: one writer for each user's hand, all of them changing one list.
 *
 *   script of a writer   + - on users of its own, so that the last change of each user is known without asking the store
 *   entry                `+user-12#3`: the change, the user, and the user's how-manieth change it is
 *
 * - The script of a writer is a function of its number: every arm makes the same changes, in the order that its writers
 *   get through.
 * - Entries are unique, so appending one again (a retry whose first attempt got through) changes nothing.
 */

export interface Change {
  readonly user: string
  readonly follows: boolean
  /** 1, 2, 3, … for each user. */
  readonly number: number
}

const usersEach = 4
/** Which of them each change is about: one is added again at once after it left, one leaves for good, one comes last. */
const turns: readonly number[] = [0, 1, 0, 0, 1, 2, 2, 3]

/** An endless script: each change turns a user's state around. */
export function* changesOf(writer: number): Generator<Change, never> {
  const counts = new Map<string, number>()
  for (let i = 0; ; i++) {
    const user = `user-${writer * usersEach + (turns[i % turns.length] ?? 0)}`
    const number = (counts.get(user) ?? 0) + 1
    counts.set(user, number)
    yield { user, follows: number % 2 === 1, number }
  }
}

/** Followers after so many changes of each writer, sorted. @param changes - by writer */
export function followersAfter(changes: readonly number[]): readonly string[] {
  const followers = new Set<string>()
  for (const [writer, count] of changes.entries()) {
    const script = changesOf(writer)
    for (let i = 0; i < count; i++) {
      const { user, follows } = script.next().value
      if (follows) followers.add(user)
      else followers.delete(user)
    }
  }
  return [...followers].sort()
}

export function entryOf({ user, follows, number }: Change): string {
  return `${follows ? '+' : '-'}${user}#${number}`
}

/** The users of whom more entries add them than remove them; one that was added again counts twice and once. */
export function followersOf(entries: Iterable<string>): readonly string[] {
  return [...balances(entries)].flatMap(([user, balance]) => (balance > 0 ? [user] : [])).sort()
}

/** How many entries of each user add it, less those that remove it. */
export function balances(entries: Iterable<string>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const entry of entries) {
    const user = userOf(entry)
    sums.set(user, (sums.get(user) ?? 0) + (entry.startsWith('+') ? 1 : -1))
  }
  return sums
}

export function userOf(entry: string): string {
  return entry.slice(1, entry.indexOf('#'))
}
