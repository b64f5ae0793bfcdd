/* A platform that cannot suspend WebAssembly; imported before all else. */
delete (WebAssembly as unknown as Record<string, unknown>).Suspending
export {}
