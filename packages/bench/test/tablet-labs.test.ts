import { labs } from '../src/labs/catalogue.ts'
import { suiteOf } from './support/lab-suite.ts'
import { tabletLabs } from './support/tablet-labs.ts'

// A second seed is left to `npm run labs:seeds`.
for (const lab of labs) if (tabletLabs.includes(lab.name)) suiteOf(lab, [])
