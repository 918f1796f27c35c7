/** The pages of the console, in the order of the navigation. A new page is a folder in pages/, an icon and a line here. */
import type { ComponentType } from 'preact'
import { onDemand } from '../components/on-demand.tsx'
import type { PageProps } from '../model/route.ts'

type Load = () => Promise<{ readonly default: ComponentType<PageProps> }>

/** The path of a picture of 16 by 16, which is drawn in lines. */
const icons = {
  overview: 'M 2 9h4v5H 2z M 6 2h4v12H 6z M 10 6h4v8h-4z',
  data: 'M 2 3h12v10H 2z M 2 6.5h12 M 2 9.75h12 M 6 6.5V 13',
  requests: 'M 2 5h11l-3-3 M 14 11H 3l3 3',
  controls: 'M 2 4h6 M 12 4h2 M 10 2v4 M 2 12h2 M 8 12h6 M 6 10v4 M 2 8h8 M 14 8h0',
  entity: 'M 8 2l6 3v6l-6 3-6-3V 5z M 2 5l6 3 6-3 M 8 8v6',
  tables: 'M 2 2h5v3H 2z M 9 2h5v3H 9z M 2 6.5h5v3H 2z M 9 6.5h5v3H 9z M 2 11h5v3H 2z M 9 11h5v3H 9z',
  log: 'M 3 2h10v12H 3z M 5.5 5h5 M 5.5 8h5 M 5.5 11h3',
  heat: 'M 2 14V 2 M 2 14h12 M 4 11l3-3 2 1.5L 13 4',
  labs: 'M 6 2h4 M 7 2v4L 3 13q0 1 1 1h8q1 0 1-1L 9 6V 2 M 5 10h6',
}

type Name = keyof typeof icons

/** Second parts of the addresses of pages; absent where they name data. */
const sections: Partial<Record<Name, readonly string[]>> = {
  overview: [],
  requests: ['transactions'],
  controls: ['snapshots', 'faults', 'clock', 'settings', 'indexes'],
  heat: [],
}

/** A page's code is loaded when it is first shown. @param name - the first part of its addresses */
const page = (name: Name, title: string, about: string, load: Load) => {
  const View = onDemand(async () => (await load()).default, `The page ${title}`)
  return { name, title, about, View, icon: icons[name], sections: sections[name] }
}

export const groups = {
  Data: [
    page('overview', 'Overview', 'Calls, latency, data and findings', () => import('../pages/overview/index.tsx')),
    page('data', 'Data', 'Entities by kind and query', () => import('../pages/data/index.tsx')),
    page('requests', 'Requests', 'Calls, and transactions that wait', () => import('../pages/requests/index.tsx')),
    page('controls', 'Controls', 'Faults, clock, settings and indexes', () => import('../pages/controls/index.tsx')),
  ],
  Inside: [
    page('entity', 'Entity', 'Rows, log and versions of one entity', () => import('../pages/entity/index.tsx')),
    page('tables', 'Six tables', 'Sorted rows, lit up by commits', () => import('../pages/tables/index.tsx')),
    page('log', 'Log and apply', 'Commits between log and tables', () => import('../pages/log/index.tsx')),
    page('heat', 'Heat', 'Load by key range and time', () => import('../pages/heat/index.tsx')),
  ],
  Learn: [page('labs', 'Labs', 'The course and its challenges', () => import('../pages/labs/index.tsx'))],
}

export const pages: readonly ReturnType<typeof page>[] = Object.values(groups).flat()

export const homePage = 'overview'
