/** The pages of the console, in the order of the navigation. A new page is a folder in pages/ and a line here. */
import type { ComponentType } from 'preact'
import { onDemand } from '../components/on-demand.tsx'
import type { PageProps } from '../model/route.ts'

export interface PageDefinition {
  /** First part of its addresses. */
  readonly name: string
  readonly title: string
  /** Its purpose, in a few words. */
  readonly about: string
  readonly View: ComponentType<PageProps>
  /** Second parts of its addresses; absent where they name data. */
  readonly sections: readonly string[] | undefined
}

type Load = () => Promise<{ readonly default: ComponentType<PageProps> }>

/** A page's code is loaded when it is first shown. */
const page = (name: string, title: string, about: string, load: Load, sections?: readonly string[]): PageDefinition => {
  return { name, title, about, sections, View: onDemand(load, `The page ${title}`) }
}

const controls = ['snapshots', 'faults', 'clock', 'settings', 'indexes']

export const pages: readonly PageDefinition[] = [
  page('overview', 'Overview', 'Calls, latency, data and findings', () => import('../pages/overview/index.tsx'), []),
  page('data', 'Data', 'Entities by kind and query', () => import('../pages/data/index.tsx')),
  page('entity', 'Entity', 'Rows, log and versions of one entity', () => import('../pages/entity/index.tsx')),
  page('tables', 'Six tables', 'Sorted rows, lit up by commits', () => import('../pages/tables/index.tsx')),
  page('log', 'Log and apply', 'Commits between log and tables', () => import('../pages/log/index.tsx')),
  page('heat', 'Heat', 'Load by key range and time', () => import('../pages/heat/index.tsx'), []),
  page('requests', 'Requests', 'Calls, and transactions that wait', () => import('../pages/requests/index.tsx'), [
    'transactions',
  ]),
  page('labs', 'Labs', 'The course and its challenges', () => import('../pages/labs/index.tsx')),
  page(
    'controls',
    'Controls',
    'Faults, clock, settings and indexes',
    () => import('../pages/controls/index.tsx'),
    controls,
  ),
]

/** Shown for an address without a page. */
export const homePage = 'overview'
