/** The pages of the console, in the order of the navigation. A new page is a folder in pages/ and a line here. */
import type { ComponentType } from 'preact'
import type { PageProps } from '../model/route.ts'

export interface PageDefinition {
  /** First part of its addresses. */
  readonly name: string
  readonly title: string
  /** Its purpose, in a few words. */
  readonly about: string
  /** Loads its code. */
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>
}

// The order: overview, data, entity, tables, log, heat, requests, labs, controls.
export const pages: readonly PageDefinition[] = [
  {
    name: 'overview',
    title: 'Overview',
    about: 'Calls, latency, data and findings',
    load: () => import('../pages/overview/index.tsx'),
  },
  {
    name: 'data',
    title: 'Data',
    about: 'Entities by kind and query',
    load: () => import('../pages/data/index.tsx'),
  },
  {
    name: 'entity',
    title: 'Entity',
    about: 'Rows, log and versions of one entity',
    load: () => import('../pages/entity/index.tsx'),
  },
  {
    name: 'tables',
    title: 'Six tables',
    about: 'Sorted rows of the tables, lit up by commits',
    load: () => import('../pages/tables/index.tsx'),
  },
  {
    name: 'log',
    title: 'Log and apply',
    about: 'Commits between log and tables, and what queries see meanwhile',
    load: () => import('../pages/log/index.tsx'),
  },
  {
    name: 'heat',
    title: 'Heat',
    about: 'Load by key range and time, tablets and findings',
    load: () => import('../pages/heat/index.tsx'),
  },
  {
    name: 'requests',
    title: 'Requests',
    about: 'Each call as it comes, and transactions that wait for each other',
    load: () => import('../pages/requests/index.tsx'),
  },
  {
    name: 'labs',
    title: 'Labs',
    about: 'Predict, run and watch; the course and its challenges',
    load: () => import('../pages/labs/index.tsx'),
  },
  {
    name: 'controls',
    title: 'Controls',
    about: 'Snapshots, faults, clock, settings and indexes',
    load: () => import('../pages/controls/index.tsx'),
  },
]

/** Shown for an address without a page. */
export const homePage = 'overview'
