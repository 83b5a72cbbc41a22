export function writeViews(_a: string, _b: string, _c: string): void {}
