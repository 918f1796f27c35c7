/** The chapters of the course as the build reads them (scripts/course.mjs). */
declare module 'course' {
  /** By the file in docs/course. */
  export const texts: Readonly<
    Record<string, () => Promise<{ readonly default: readonly import('./model/chapter-text.ts').Piece[] }>>
  >
}
