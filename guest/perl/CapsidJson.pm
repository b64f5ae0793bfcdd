package CapsidJson;

# Lossless JSON without recursion: text to values and back. Objects of the host
# keep the order of their keys (CapsidJson::Ordered); those of a program, which
# have none, are written in the order of their names.
use strict;
use warnings;
no warnings qw(surrogate nonchar non_unicode experimental::builtin);
use Scalar::Util qw(blessed reftype refaddr);

my %ESCAPES = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t",
	'"' => '"', '\\' => '\\', '/' => '/');

# --- text to value ---

# At \G of $_[0], behind the opening quote.
sub string {
	my $out = '';
	for (;;) {
		$_[0] =~ /\G([^"\\]*)/gc;
		$out .= $1;
		return $out if $_[0] =~ /\G"/gc;
		if ($_[0] =~ /\G\\u([0-9a-fA-F]{4})/gc) {
			my $unit = hex $1;
			if ($unit >= 0xd800 && $unit < 0xdc00
				&& $_[0] =~ /\G\\u([dD][c-fC-F][0-9a-fA-F]{2})/gc) {
				$unit = 0x10000 + (($unit - 0xd800) << 10)
				  + (hex($1) - 0xdc00);
			}
			$out .= chr $unit;
		} elsif ($_[0] =~ /\G\\(["\\\/bfnrt])/gc) {
			$out .= $ESCAPES{$1};
		} else {
			die "not JSON\n";
		}
	}
}

# What is no container, at \G of $_[0].
sub scalar_value {
	return string($_[0]) if $_[0] =~ /\G"/gc;
	return 0 + $1
	  if $_[0] =~ /\G(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/gc;
	return $1 eq 'null' ? undef : $1 eq 'true' ? builtin::true
	  : builtin::false
	  if $_[0] =~ /\G(null|true|false)/gc;
	die "not JSON\n";
}

sub parse {
	my @open;    # containers, the innermost last
	my @keys;    # where in them, for objects
	my ($value, $key);
	pos($_[0]) = 0;
	for (;;) {
		$_[0] =~ /\G[ \t]+/gc;
		if ($_[0] =~ /\G([\[{])/gc) {
			my $made = $1 eq '[' ? [] : CapsidJson::Ordered->new;
			push @open, $made;
			push @keys, undef;
			my $close = $1 eq '[' ? ']' : '}';
			if ($_[0] !~ /\G[ \t]*\Q$close\E/gc) {
				next if $close eq ']';
				$keys[-1] = member($_[0]);
				next;
			}
			pop @open;
			pop @keys;
			$value = $made;
		} else {
			$value = scalar_value($_[0]);
		}
		# a value is whole: into what is around it
		for (;;) {
			return $value unless @open;
			my $into = $open[-1];
			if (ref $into eq 'ARRAY') {
				push @$into, $value;
			} else {
				$into->{ $keys[-1] } = $value;
			}
			$_[0] =~ /\G[ \t]*([,\]}])/gc or die "not JSON\n";
			if ($1 eq ',') {
				$keys[-1] = member($_[0])
				  if ref $into ne 'ARRAY';
				last;
			}
			$value = pop @open;
			pop @keys;
		}
	}
}

sub member {
	$_[0] =~ /\G[ \t]*"/gc or die "not JSON\n";
	my $key = string($_[0]);
	$_[0] =~ /\G[ \t]*:/gc or die "not JSON\n";
	return $key;
}

# --- value to text ---

my %NAMES = ("\n" => '\\n', "\t" => '\\t', "\r" => '\\r', '"' => '\\"',
	'\\' => '\\\\');

sub quote {
	my ($text) = @_;
	die CapsidJson::Lossy->new('holds a character that Unicode has not')
	  if $text =~ /[^\x{0}-\x{10ffff}]/;
	$text =~ s/(["\\\x00-\x1f\x{d800}-\x{dfff}])/
		$NAMES{$1} \/\/ sprintf('\\u%04x', ord $1)/gex;
	return "\"$text\"";
}

# The shortest text that is this double again.
sub number {
	my ($number) = @_;
	return 'is NaN' if $number != $number;
	my $double = unpack 'd', pack 'd', $number;
	return 'is infinite' if $double == 9**9**9 || $double == -9**9**9;
	return 'is -0' if $double == 0 && sprintf('%g', $double) eq '-0';
	return 'is an integer that no double holds'
	  if "$number" =~ /^-?[0-9]+\z/ && sprintf('%.0f', $double) ne "$number";
	for my $digits (15, 16, 17) {
		my $text = sprintf "%.${digits}g", $double;
		return (undef, $text) if $text == $double;
	}
}

# (why, text) of what is no container.
sub plain {
	my ($value) = @_;
	return (undef, 'null') unless defined $value;
	return (undef, $value ? 'true' : 'false') if builtin::is_bool($value);
	return number($value) if builtin::created_as_number($value);
	return (undef, quote($value));
}

# What an array or a hash is that has a package or is tied to something.
sub container {
	my ($value) = @_;
	my $kind = reftype $value;
	return 'is a ' . blessed($value) if defined blessed $value;
	return 'is a reference to ' . lc $kind
	  unless $kind eq 'ARRAY' || $kind eq 'HASH';
	my $tied = $kind eq 'ARRAY' ? tied @$value : tied %$value;
	return 'is tied' if $tied && ref $tied ne 'CapsidJson::Ordered';
	return undef;
}

sub place {
	my $text = '$';
	for my $level (@_) {
		my $key = $level->{keys} && $level->{keys}[$level->{at} - 1];
		$text .= !$level->{keys} ? "[$level->{at}]"
		  : $key =~ /^[A-Za-z_]\w{0,63}\z/a ? ".$key"
		  : '[' . quote(substr $key, 0, 64) . ']';
		$text =~ s/\[(\d+)\]\z/'[' . ($1 - 1) . ']'/e
		  if !$level->{keys};
	}
	return $text;
}

# Compact JSON; dies with a CapsidJson::Lossy.
sub write {
	my ($value) = @_;
	my ($out, @open, %seen) = ('');
	for (;;) {
		my ($why, $text);
		if (ref $value) {
			$why = container($value);
			$why //= 'is a circular reference'
			  if $seen{ refaddr $value };
			if (!defined $why) {
				my $keys = reftype $value eq 'HASH'
				  && [tied %$value ? keys %$value
					: sort keys %$value];
				push @open, { value => $value, keys => $keys,
					at => 0,
					count => scalar @{ $keys || $value } };
				$seen{ refaddr $value } = 1;
				$out .= $keys ? '{' : '[';
			}
		} else {
			($why, $text) = plain($value);
			$out .= $text // '';
		}
		die CapsidJson::Lossy->new(place(@open) . " $why")
		  if defined $why;
		while (@open && $open[-1]{at} == $open[-1]{count}) {
			my $level = pop @open;
			delete $seen{ refaddr $level->{value} };
			$out .= $level->{keys} ? '}' : ']';
		}
		return $out unless @open;
		my $level = $open[-1];
		my $at = $level->{at}++;
		$out .= ',' if $at > 0;
		if ($level->{keys}) {
			my $key = $level->{keys}[$at];
			$out .= quote($key) . ':';
			$value = $level->{value}{$key};
		} else {
			$value = $level->{value}[$at];
		}
	}
}

# Why a value is no lossless JSON.
package CapsidJson::Lossy;

use overload '""' => sub { ${ $_[0] } }, fallback => 1;

sub new {
	my ($class, $text) = @_;
	return bless \$text, $class;
}

# A hash whose keys keep the order in which they came.
package CapsidJson::Ordered;

sub new {
	tie my %hash, 'CapsidJson::Ordered';
	return \%hash;
}

sub TIEHASH { return bless { of => {}, keys => [], at => 0 }, shift }
sub FETCH { return $_[0]{of}{ $_[1] } }
sub EXISTS { return exists $_[0]{of}{ $_[1] } }
sub SCALAR { return scalar %{ $_[0]{of} } }

sub STORE {
	my ($self, $key, $value) = @_;
	push @{ $self->{keys} }, $key unless exists $self->{of}{$key};
	$self->{of}{$key} = $value;
}

sub DELETE {
	my ($self, $key) = @_;
	@{ $self->{keys} } = grep { $_ ne $key } @{ $self->{keys} };
	return delete $self->{of}{$key};
}

sub CLEAR {
	my ($self) = @_;
	$self->{of} = {};
	$self->{keys} = [];
}

sub FIRSTKEY {
	my ($self) = @_;
	$self->{at} = 0;
	return $self->NEXTKEY;
}

sub NEXTKEY {
	my ($self) = @_;
	return $self->{keys}[ $self->{at}++ ];
}

1;
