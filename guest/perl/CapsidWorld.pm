package CapsidWorld;

# What a program finds: its host functions, its error classes, and handles that
# log. And how a run ends, with the guest's own meter of the outer output.
use strict;
use warnings;
use CapsidJson;
use CapsidPort;
use POSIX ();

my ($left, $logged, $over) = (0, 0, 0);
my ($next_id, %answers) = (1);

# --- the end ---

sub done {
	my ($rest) = @_;
	CapsidPort::say_line("{\"type\":\"done\"$rest}") unless $over++;
}

sub overflow {
	done(',"error":{"kind":"output-limit","message":""}');
	POSIX::_exit(0);
}

sub bytes {
	my ($text) = @_;
	utf8::encode($text);
	return length $text;
}

sub value {
	my ($json) = @_;
	return overflow() if bytes($json) > $left;
	done(",\"value\":$json");
}

# $short stands for a message that is too long for what is left.
sub failure {
	my ($kind, $message, $short) = @_;
	my $text = eval { CapsidJson::quote($message) } // '""';
	return defined $short ? failure($kind, $short) : overflow()
	  if bytes($text) > $left;
	done(",\"error\":{\"kind\":\"$kind\",\"message\":$text}");
}

# --- logs ---

sub log_text {
	my ($text) = @_;
	return if $over;
	$text =~ s/\n\z//;
	# one character too many shows the host that more was to come
	$text = substr $text, 0, $left + 4 if length $text > $left + 4;
	my $token = CapsidJson::quote($text);
	my $cost = bytes($token) + ($logged++ ? 1 : 0);
	CapsidPort::say_line("{\"type\":\"log\",\"text\":$token}");
	return overflow() if $cost > $left;
	$left -= $cost;
}

# A handle that logs, an entry a print.
sub CapsidWorld::Handle::TIEHANDLE { return bless {}, shift }

sub CapsidWorld::Handle::PRINT {
	my ($self, @texts) = @_;
	log_text(join($, // '', @texts) . ($\ // ''));
	return 1;
}

sub CapsidWorld::Handle::PRINTF {
	my ($self, $format, @values) = @_;
	log_text(sprintf $format, @values);
	return 1;
}

sub CapsidWorld::Handle::WRITE {
	my ($self, $text, $length, $at) = @_;
	log_text(substr $text, $at // 0, $length);
	return $length;
}

sub CapsidWorld::Handle::BINMODE { return 1 }
sub CapsidWorld::Handle::CLOSE { return 1 }
sub CapsidWorld::Handle::FILENO { return undef }

# --- calls ---

# Sends a call; what it gives is waited for by `finish`.
sub begin {
	my ($namespace, $name, $fail, $argument) = @_;
	my $json = eval { CapsidJson::write($argument) };
	return { error => 'binding arguments must be lossless JSON',
		fail => $fail }
	  unless defined $json;
	my $id = $next_id++;
	CapsidPort::say_line("{\"type\":\"call\",\"id\":$id,\"namespace\":"
		  . CapsidJson::quote($namespace) . ',"name":'
		  . CapsidJson::quote($name) . ",\"argument\":$json}");
	return { id => $id, fail => $fail };
}

sub finish {
	my ($call) = @_;
	$call->{fail}->($call->{error}) if exists $call->{error};
	my $id = $call->{id};
	until ($answers{$id}) {
		my $reply = CapsidPort::next_line();
		$answers{ $reply->{id} } = $reply
		  if ($reply->{type} // '') eq 'reply';
	}
	my $reply = $answers{$id};
	$call->{fail}->($reply->{error}) if exists $reply->{error};
	return $reply->{value};
}

# How a failed call dies: with an object of the namespace's class, or a text.
sub failer {
	my ($name, $class) = @_;
	return sub { die "$_[0]\n" } unless $class;
	my $member = $class->{memberNameProperty};
	return sub {
		die bless { name => $class->{name}, message => $_[0],
			$member => $name }, $class->{name};
	};
}

sub make_class {
	my ($name) = @_;
	no strict 'refs';
	@{"${name}::ISA"} = ('CapsidWorld::Error');
}

sub CapsidWorld::Error::text {
	return "$_[0]{name}: $_[0]{message}";
}

{
	package CapsidWorld::Error;
	use overload '""' => \&text, fallback => 1;
}

# $tools->name($argument); what is no such function dies as Perl would have it.
our $AUTOLOAD;

sub CapsidWorld::Namespace::AUTOLOAD {
	my ($self, @arguments) = @_;
	my $name = $CapsidWorld::Namespace::AUTOLOAD =~ s/.*:://r;
	return if $name eq 'DESTROY';
	my $function = ref $self && $self->{$name};
	if (!$function) {
		my (undef, $file, $line) = caller;
		die "there is no host function \"$name\" at $file line $line.\n";
	}
	return $function->(@arguments);
}

sub define {
	my ($namespace) = @_;
	my ($global, $class) = @$namespace{ 'global', 'errorClass' };
	my $object = bless {}, 'CapsidWorld::Namespace';
	make_class($class->{name}) if $class;
	for my $name (@{ $namespace->{functions} }) {
		my $fail = failer($name, $class);
		$object->{$name} = sub {
			my $call = begin($global, $name, $fail, $_[0]);
			return finish($call);
		};
		$object->{"\0$name"} = sub { begin($global, $name, $fail, $_[0]) };
	}
	no strict 'refs';
	${"main::$global"} = $object;
}

# async($tools, 'name', $argument): the call is on its way; ->() waits for it.
sub main::async {
	my ($object, $name, $argument) = @_;
	my $begin = $object->{"\0$name"}
	  // die "there is no host function \"$name\"\n";
	my $call = $begin->($argument);
	return sub { finish($call) };
}

sub furnish {
	my ($namespaces, $output) = @_;
	$left = $output > 2 ? $output - 2 : 0;    # for "[]"
	define($_) for @$namespaces;
	tie *STDOUT, 'CapsidWorld::Handle';
	tie *STDERR, 'CapsidWorld::Handle';
	$SIG{__WARN__} = sub { log_text($_[0]) };
	%ENV = ();
	@ARGV = ();
	$0 = 'program.pl';
}

1;
