#!/usr/bin/env node
/**
 * The `sixtables` command. A small committed file, because pnpm links a command only when its file is there at install
 * time, and the build comes later.
 */
import { existsSync, statSync } from 'node:fs'

// Whoever read the output may have gone; a server goes on without.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

/** When a file was last written, 0 when there is none. */
const writtenAt = (path) => statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0

// The bundle starts in half of the time. After the compiler ran alone, while somebody works on the sources, it is behind.
const bundled = '../dist/bundle/main.js'
const compiledAt = Math.max(writtenAt('../dist/.tsbuildinfo'), writtenAt('../../engine/dist/.tsbuildinfo'))
const built = writtenAt(bundled) > compiledAt ? bundled : '../dist/cli/main.js'

if (existsSync(new URL(built, import.meta.url))) {
  const { main } = await import(built)
  process.exitCode = await main(process.argv.slice(2))
  // What is still open now has no one waiting for it.
  setTimeout(() => process.exit(), 500).unref()
} else {
  process.stderr.write('sixtables: not built yet; run `npm run setup` at the root of the repository.\n')
  process.exitCode = 2
}
