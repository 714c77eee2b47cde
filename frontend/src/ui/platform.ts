/** Names of the keys on this machine: ⌘ or Ctrl. */

export const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** What is held down for a shortcut. */
export const MOD = APPLE ? "⌘" : "Ctrl";

/** Enter with that key. */
export const MOD_ENTER = APPLE ? "⌘↵" : "⌃↵";
