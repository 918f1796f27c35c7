/** A browser has no limit on listeners, so there is none to lift. */
export function setMaxListeners(): void {}
