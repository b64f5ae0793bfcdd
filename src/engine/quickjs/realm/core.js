// What the realm's C borrows from JavaScript, made once before the snapshot:
// how to make a real error class, and a plain error. Nothing here can be
// reached or changed by a program.
(() => {
	const { defineProperty } = Object;
	const BaseError = Error;
	const own = (target, key, value) =>
		defineProperty(target, key, {
			__proto__: null,
			value,
			writable: true,
			enumerable: true,
			configurable: true,
		});
	const errorClass = (name, member) => {
		const made = {
			[name]: class extends BaseError {
				constructor(message, failed) {
					super(message);
					own(this, "name", name);
					own(this, member, failed);
				}
			},
		}[name];
		return [made, (message, failed) => new made(message, failed)];
	};
	const plainError = (message) => new BaseError(message);
	return [errorClass, plainError];
})();
