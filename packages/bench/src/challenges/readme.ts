/** The README.md of a learner's folder: the task, what must be reached, and what a program may call. */
import type { Challenge } from './challenge.ts'

/** @param folder - as the learner named it, from where the command runs */
export function readmeOf({ name, title, task, lab, functions, goals, minutes }: Challenge, folder: string): string {
  return `# ${name}: ${title}

${task}

It passes when

${goals.map(({ says }) => `- ${says}`).join('\n')}

Change \`solution.mjs\`. It must export ${functions.map((one) => `\`${one}\``).join(', ')}. Allow about ${minutes} minutes. The lab
\`npx sixtables-lab run ${lab}\` shows the effect. Then, in the folder from which
you started:

\`\`\`sh
npx sixtables-lab challenge judge ${folder}
\`\`\`

The judge keeps the store and calls your functions in a process of their own, with random data. It replaces that process at random moments, as a
platform does with its instances, and always between writing and reading: what a call has acknowledged must be in the store. First it prints
what your program did, then the findings, then figures and heat beside those of the program as it was given. What you print goes to the
standard error.

Time is simulated: \`db.now()\`, \`Date\`, \`db.sleep(ms)\` and \`setTimeout\` follow it. The program cannot write files or start processes.

## What you may call

A key is an array: \`['User', 'ada', 'Post', 17]\`, kind and name or id, root first. Without a last id or name, one is allocated. Properties are
text, numbers, \`true\` and \`false\`, \`null\`, \`Date\`, and arrays of these.

| call | answer |
| --- | --- |
| \`await db.get(key)\` | the entity, with its \`key\`; \`undefined\` if there is none |
| \`await db.getAll(keys)\` | the same for many keys, by one lookup |
| \`await db.put(key, properties, { unindexed: ['text'] })\` | stores; the properties in \`unindexed\` have no index rows |
| \`await db.insert(key, properties, …)\` | the same; fails with ALREADY_EXISTS if the entity is there |
| \`await db.remove(key, …)\` | deletes |
| \`await db.query({ kind, where, order, ancestor, limit, offset, cursor, keysOnly })\` | \`{ entities, cursor }\` |
| \`await db.count({ kind, where })\` | how many entities |
| \`await db.allocateId(kind)\` | a new id (a bigint) |
| \`await db.transaction(async (tx) => …)\` | what the function answers; \`tx\` has get, getAll, put, insert, remove and query. After a conflict it runs again, up to five times |
| \`db.random()\` | a number from 0 to 1 |

\`where\` is a list of \`[property, operator, value]\` with \`= < <= > >= != in\`; the property \`__key__\` compares keys. \`order\` is a list of
property names; \`'-name'\` is descending. Composite indexes are made when a query needs them.
`
}
