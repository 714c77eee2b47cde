/** What went wrong, in the words of the host. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string = "",
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }

  /** The host is not there, rather than unwilling. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

export function unreachable(): ApiError {
  return new ApiError(0, "unreachable", "Toolcrib is not answering.", "Start it again with: toolcrib up");
}

/** The error that an answer's body holds. */
export function apiError(status: number, body: unknown): ApiError {
  const error = (body as { error?: Record<string, unknown> } | null)?.error ?? {};
  const { kind, message, hint, ...details } = error;
  return new ApiError(
    status,
    typeof kind === "string" ? kind : "unknown",
    typeof message === "string" ? message : `The host answered with ${status}.`,
    typeof hint === "string" ? hint : "",
    details,
  );
}

/** One sentence for a person about anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof ApiError) return error.hint ? `${error.message} ${error.hint}` : error.message;
  return error instanceof Error ? error.message : String(error);
}
