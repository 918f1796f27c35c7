/** One emulator for the run; each worker has a project of its own, empty at the start of each file. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['*.test.mjs'],
    globalSetup: '@sixtables/gateway/vitest',
    setupFiles: '@sixtables/gateway/vitest-worker',
  },
})
