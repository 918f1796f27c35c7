/** `npm run setup`: installs, generates and builds what is missing or out of date, and nothing else. */
import { setUp } from './lib/set-up.mjs'
import { script } from './lib/tools.mjs'

await script(setUp)
