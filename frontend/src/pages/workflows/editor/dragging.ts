/** The type of data that a step of the palette carries while it is dragged. */
export const DRAGGED_KIND = "application/x-toolcrib-step";
