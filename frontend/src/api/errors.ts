/** An error reported by the host, as one sentence; also the text "Toolcrib is not responding" when it cannot be
 * reached. */

/** An error reported by the host. */
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

  /** The host could not be reached. */
  get unreachable(): boolean {
    return this.status === 0;
  }

  /** What was asked for belongs to a feature that is not installed. */
  get featureMissing(): boolean {
    return this.kind === "feature_missing";
  }
}

export function unreachable(): ApiError {
  return new ApiError(0, "unreachable", "Toolcrib is not responding.", "Restart it with: toolcrib up");
}

/** The error in the body of a response. */
export function apiError(status: number, body: unknown): ApiError {
  const error = (body as { error?: Record<string, unknown> } | null)?.error ?? {};
  const { kind, message, hint, ...details } = error;
  return new ApiError(
    status,
    typeof kind === "string" ? kind : "unknown",
    typeof message === "string" ? message : `The host responded with status ${status}.`,
    typeof hint === "string" ? hint : "",
    details,
  );
}

/** One sentence for the user about anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof ApiError) return error.hint ? `${error.message} ${error.hint}` : error.message;
  return error instanceof Error ? error.message : String(error);
}
