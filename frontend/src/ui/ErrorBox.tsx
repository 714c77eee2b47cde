import type { ReactNode } from "react";

import { ApiError } from "../api/errors";

/** An error at the place where it belongs: what happened, what to do, and a way to try again. */
export function ErrorBox({ error, again, children }: { error: unknown; again?: () => void; children?: ReactNode }) {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError ? error.hint : "";
  return (
    <div className="error-box" role="alert">
      <p>
        <b>{message}</b> {hint}
      </p>
      <div className={again || children ? "row space-above-8" : "row"}>
        {again && (
          <button type="button" className="btn small" onClick={again}>
            Try again
          </button>
        )}
        {children}
      </div>
    </div>
  );
}
