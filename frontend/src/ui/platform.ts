/** The keys of this machine. */

export const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** What is held down for a shortcut. */
export const MOD = APPLE ? "⌘" : "Ctrl";

/** Enter with that key. */
export const MOD_ENTER = APPLE ? "⌘↵" : "⌃↵";
